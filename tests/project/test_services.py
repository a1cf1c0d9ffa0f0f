"""The services of `tests/benchmarks/services`: the same seed gives the same bytes, and answers are counted right."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.benchmarks.services.__main__ import _REAL
from tests.benchmarks.services.chains import LANGUAGES, Spec, read_specs
from tests.benchmarks.services.scoring import Asked, Case, Place, judge, share
from tests.benchmarks.services.writing import make_service, write_repository

_SPECS = {spec.id: spec for spec in read_specs()}
_SMALL = ("photo-drop", "club-list")
_EVERYDAY_TEXT = "does happens happen with what when where which whether that this they them their from only some"
_EVERYDAY = frozenset(_EVERYDAY_TEXT.split())


def _commit(folder: Path) -> str:
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class TestWriting:
    @pytest.mark.parametrize("name", _SMALL)
    def test_same_seed_same_bytes(self, name: str, tmp_path: Path) -> None:
        first, again, other = (make_service(_SPECS[name], seed) for seed in (1, 1, 2))
        assert first == again
        assert first.files != other.files
        for folder in ("a", "b"):
            write_repository(tmp_path / folder, first.files)
        assert _commit(tmp_path / "a") == _commit(tmp_path / "b")

    def test_thirty_services_in_five_languages(self) -> None:
        assert [spec.language for spec in _SPECS.values()] == [each for each in LANGUAGES for _ in range(6)]

    @pytest.mark.parametrize("spec", _SPECS.values(), ids=_SPECS)
    def test_the_chain_is_there_and_ends_without_words_of_the_question(self, spec: Spec) -> None:
        service = make_service(spec, 1)
        words = {word for word in re.findall("[a-z]{4,}", spec.question.lower()) if word not in _EVERYDAY}
        for link in service.row["chain"]:  # type: ignore[attr-defined]
            assert link["name"].rsplit(".", 1)[-1] in service.files[link["path"]]
        last = service.files[service.row["chain"][-1]["path"]].lower()  # type: ignore[index]
        assert not {word for word in words if re.search(rf"\b{word}", last)}

    def test_it_has_the_size_that_it_says(self) -> None:
        service = make_service(_SPECS["ticket-hall"], 1)
        assert service.row["files"] == len(service.files) == 30
        digests = {hashlib.sha256(text.encode()).hexdigest() for text in service.files.values()}
        assert len(digests) == 30


# A chain of three links in two files. The list of files has a hub between them, and a look-alike first.
_CASE = Case(
    "made-up", "go", 9, Path(), "?",
    chain=(Place("a.go", "H.Serve"), Place("b.go", "check", 10, 20), Place("b.go", "same")),
    hubs=("log.go",), lookalikes=("users.go",),
)  # fmt: skip
_ASKED = Asked(
    files=("users.go", "a.go", "log.go", "b.go"),
    definitions=(
        Place("users.go", "List", 1, 9), Place("a.go", "pkg.H.Serve", 3, 8), Place("b.go", "check", 30, 40),
        Place("b.go", "same~2", 50, 60),
    ),
    pack=(Place("a.go", "H.Serve", 3, 8), Place("b.go", "check", 12, 20), Place("b.go", "same", 50, 60)),
    tokens=900,
)  # fmt: skip


class TestReal:
    def test_every_chain_has_links_with_lines(self) -> None:
        rows = [json.loads(line) for line in _REAL.read_text().splitlines()]
        assert len({row["repo"] for row in rows}) == len(rows) == 25
        for row in rows:
            assert re.fullmatch("[0-9a-f]{40}", row["commit"])
            assert 2 <= len(row["chain"]) <= 5
            assert all(0 < link["start"] <= link["end"] for link in row["chain"])
            assert all(0 <= link.get("caller", 0) <= i for i, link in enumerate(row["chain"]))


class TestScoring:
    def test_counts_of_an_answer(self) -> None:
        verdict = judge(_CASE, _ASKED)
        assert verdict.files  # both files stand among the first four
        assert (verdict.n_links, verdict.definitions) == (2, False)  # the `check` of lines 30 to 40 is another one
        assert (verdict.pack, verdict.in_order) == (True, True)
        assert verdict.before_hubs is False  # log.go before b.go
        assert not verdict.source  # named only
        assert judge(_CASE, _ASKED._replace(sources=_ASKED.pack)).source
        assert judge(_CASE, _ASKED._replace(sources=_ASKED.pack)).first_of_pack
        behind_a_hub = (Place("log.go", "write"), *_ASKED.pack)
        assert not judge(_CASE, _ASKED._replace(sources=behind_a_hub)).first_of_pack
        assert not judge(_CASE, _ASKED._replace(sources=_ASKED.pack[:-1])).first_of_pack
        assert (verdict.n_alike, verdict.n_files, verdict.tokens) == (1, 2, 900)

    def test_order_and_hubs(self) -> None:
        asked = _ASKED._replace(pack=_ASKED.pack[::-1], files=("a.go", "b.go", "log.go"))
        verdict = judge(_CASE, asked)
        assert (verdict.pack, verdict.in_order, verdict.before_hubs, verdict.n_alike) == (True, False, True, 0)

    def test_two_links_of_one_caller_have_no_order(self) -> None:
        first, second, third = _ASKED.pack
        asked = _ASKED._replace(pack=(first, third, second))
        assert not judge(_CASE, asked).in_order
        chain = (*_CASE.chain[:2], _CASE.chain[2]._replace(caller=1))
        assert judge(_CASE._replace(chain=chain), asked).in_order

    def test_a_file_that_is_not_found_is_not_before_hubs(self) -> None:
        verdict = judge(_CASE, _ASKED._replace(files=("a.go",), pack=_ASKED.pack[:1]))
        assert (verdict.files, verdict.before_hubs, verdict.pack, verdict.in_order) == (False, False, False, False)
        assert judge(_CASE._replace(hubs=None), _ASKED).before_hubs is None

    def test_the_ninth_does_not_count(self) -> None:
        fillers = tuple(Place("users.go", f"f{i}") for i in range(7))
        asked = _ASKED._replace(definitions=(*fillers, Place("a.go", "H.Serve"), Place("b.go", "check", 10, 20)))
        assert judge(_CASE, asked).n_links == 1

    def test_share(self) -> None:
        assert share(8, 10, True) == "8 of 10 [49–94]"  # Wilson: 0.490 to 0.943
        assert share(0, 0, True) == "–"
