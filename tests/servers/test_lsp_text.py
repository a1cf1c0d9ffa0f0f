"""Positions of editors, and frames of their messages."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from lsprotocol.types import Position, PositionEncodingKind

from causalist.servers.lsp import protocol as lsp_frames
from causalist.servers.lsp.folders import WorkspaceFolders
from causalist.servers.lsp.protocol import DocumentText, encode_text, frame_message, read_bodies

ENCODINGS = [PositionEncodingKind.Utf8, PositionEncodingKind.Utf16, PositionEncodingKind.Utf32]
CODECS = {PositionEncodingKind.Utf8: ("utf-8", 1), PositionEncodingKind.Utf16: ("utf-16-le", 2),
          PositionEncodingKind.Utf32: ("utf-32-le", 4)}  # fmt: skip
contents = st.text(st.sampled_from("ab 😀é漢\n\r\u2028\x0b"), max_size=30)


class TestPositions:
    @pytest.mark.parametrize(
        ("encoding", "character"),
        # Before the dot stand "s = '😀é'": 5 ASCII characters, one of 4 bytes and 2 UTF-16 units, one of 2 bytes, "'".
        [(PositionEncodingKind.Utf8, 12), (PositionEncodingKind.Utf16, 9), (PositionEncodingKind.Utf32, 8)],
    )
    def test_an_astral_character_by_hand(self, encoding: PositionEncodingKind, character: int) -> None:
        text = encode_text("x = 1\r\ns = '😀é'.upper()\n", encoding)
        byte = text.data.index(b".upper")
        assert text.position(byte) == Position(1, character)
        assert text.byte(Position(1, character)) == byte

    def test_inside_of_an_astral_character_means_its_beginning(self) -> None:
        assert encode_text("a😀b", PositionEncodingKind.Utf16).byte(Position(0, 2)) == 1
        assert encode_text("a😀b", PositionEncodingKind.Utf8).byte(Position(0, 3)) == 1
        assert encode_text("a😀b", PositionEncodingKind.Utf16).byte(Position(0, 3)) == 5

    def test_behind_a_line_and_behind_the_text(self) -> None:
        text = encode_text("ab\r\ncd", PositionEncodingKind.Utf16)
        assert text.byte(Position(0, 99)) == 2
        assert text.byte(Position(1, 99)) == text.byte(Position(99, 0)) == 6

    def test_only_the_ends_of_lines_of_the_protocol_end_lines(self) -> None:
        text = encode_text("a\u2028b\x0bc\x85d\re\nf\r\ng", PositionEncodingKind.Utf16)
        assert [text.data[start : text.line(i)[1]].decode() for i, start in enumerate(text.starts)] == [
            "a\u2028b\x0bc\x85d", "e", "f", "g",
        ]  # fmt: skip

    @pytest.mark.parametrize("encoding", ENCODINGS)
    @given(content=contents)
    def test_agree_with_codecs(self, encoding: PositionEncodingKind, content: str) -> None:
        """Characters before a position, counted by Python's own encoders."""
        text = encode_text(content, encoding)
        codec, width = CODECS[encoding]
        line = character = 0
        for i, each in enumerate(content):
            byte = len(content[:i].encode())
            is_between = content[i - 1 : i + 1] == "\r\n" and i > 0
            if not is_between:
                assert text.position(byte) == Position(line, character)
                assert text.byte(Position(line, character)) == byte
            character += len(each.encode(codec)) // width
            if each == "\n" or (each == "\r" and content[i + 1 : i + 2] != "\n"):
                line, character = line + 1, 0

    def test_lone_surrogates_and_bytes_of_no_encoding(self) -> None:
        text = encode_text("a\ud800b", PositionEncodingKind.Utf16)
        assert text.byte(Position(0, 2)) == 4 and text.position(4) == Position(0, 2)
        assert DocumentText(b"\xff\xfe.x").position(2) == Position(0, 2)


class TestEdits:
    @pytest.mark.parametrize("encoding", ENCODINGS)
    @given(data=st.data())
    def test_agree_with_slices(self, encoding: PositionEncodingKind, data: st.DataObject) -> None:
        content = data.draw(contents)
        text = encode_text(content, encoding)
        boundaries = [
            i for i in range(len(content) + 1) if not (0 < i < len(content) and content[i - 1 : i + 1] == "\r\n")
        ]
        start, end = sorted(data.draw(st.tuples(st.sampled_from(boundaries), st.sampled_from(boundaries))))
        new = data.draw(contents)
        place = text.range(len(content[:start].encode()), len(content[:end].encode()))
        edited = text.apply_change(types.TextDocumentContentChangePartial(range=place, text=new))
        assert edited.data.decode() == content[:start] + new + content[end:]

    def test_the_whole_and_a_range_that_runs_backwards(self) -> None:
        text = encode_text("abc", PositionEncodingKind.Utf16)
        assert text.apply_change(types.TextDocumentContentChangeWholeDocument("x")).data == b"x"
        backwards = types.Range(Position(0, 2), Position(0, 1))
        assert text.apply_change(types.TextDocumentContentChangePartial(range=backwards, text="-")).data == b"a-c"


def read_in(pieces: list[bytes]) -> list[bytes | None]:
    stream = io.BytesIO(b"".join(pieces))
    return list(read_bodies(stream.read))


class TestFrames:
    @given(st.lists(st.binary(max_size=40), max_size=5), st.integers(1, 7))
    def test_come_back_whatever_the_pieces(self, sent: list[bytes], size: int) -> None:
        stream = io.BytesIO(b"".join(map(frame_message, sent)))
        assert list(read_bodies(lambda n: stream.read(min(n, size)))) == sent

    @pytest.mark.parametrize(
        "noise",
        [b"noise\r\n", b"\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"Content-Length: 1e3\r\n\r\n",
         b"x" * 100_000 + b"\n\n",
         b"Content-Length: 99999999999999999\r\n\r\n", b"Content-Type: x\r\n\r\n", b"\x00\xff\n\n", b"{}\n\n"],
    )  # fmt: skip
    def test_after_noise_the_next_message_is_read(self, noise: bytes) -> None:
        assert read_in([noise, frame_message(b"{}")])[-1:] == [b"{}"]

    def test_headers_of_any_case_and_others_beside(self) -> None:
        assert read_in([b"content-type: x; charset=utf-8\r\nCONTENT-LENGTH:2\r\n\r\n{}"]) == [b"{}"]

    def test_one_that_is_too_long_is_passed_over(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lsp_frames, "MAX_BODY_BYTES", 10)
        assert read_in([frame_message(b"x" * 11), frame_message(b"y" * 10)]) == [None, b"y" * 10]

    def test_an_end_in_the_middle(self) -> None:
        assert read_in([frame_message(b"{}"), frame_message(b"x" * 10)[:-1]]) == [b"{}"]
        assert read_in([b"Content-Length: 2"]) == []


@pytest.mark.parametrize("uri", ["file:///shop/\udf89.py", "file:///shop/a%00b.py"], ids=["surrogate", "nul"])
def test_a_path_that_no_file_can_have_is_in_no_folder(uri: str, tmp_path: Path) -> None:
    folders = WorkspaceFolders(dict)
    folders.add(tmp_path.as_uri())
    folders.add(uri)
    assert folders.place(uri) is None
    assert len(list(folders)) == 1
    folders.stop()
