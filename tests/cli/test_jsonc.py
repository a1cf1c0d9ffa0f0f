"""One member of a file changes and nothing else in it: comments, commas, indentation, line ends stay."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.cli._settings_edit import NotJson, get_member, with_member, without_member

PATH = ("servers", "x")


def check(before: str, after: str, data: object = 1) -> None:
    """Adding gives `after`, and is understood again."""
    assert with_member(before, PATH, data) == after
    assert get_member(after, PATH) == data


class TestAdding:
    def test_to_an_empty_object(self) -> None:
        check("{}\n", '{\n  "servers": {\n    "x": 1\n  }\n}\n')
        check("{\n\n}", '{\n  "servers": {\n    "x": 1\n  }\n}')

    def test_behind_what_is_there(self) -> None:
        check('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "servers": {\n    "x": 1\n  }\n}\n')
        check('{\n  "servers": {\n    "a": {}\n  }\n}\n', '{\n  "servers": {\n    "a": {},\n    "x": 1\n  }\n}\n')

    def test_to_an_empty_inner_object(self) -> None:
        check('{\n  "servers": {}\n}\n', '{\n  "servers": {\n    "x": 1\n  }\n}\n')
        check('{\n  "servers": { /* none */ }\n}', '{\n  "servers": { /* none */\n    "x": 1\n  }\n}')
        check('{\n  "servers": {\n    // none\n  }\n}', '{\n  "servers": {\n    // none\n    "x": 1\n  }\n}')

    def test_in_place_of_what_is_there(self) -> None:
        check(
            '{\n  "servers": {\n    "x": [1, 2], // old\n    "y": 3\n  }\n}',
            '{\n  "servers": {\n    "x": 1, // old\n    "y": 3\n  }\n}',
        )

    def test_as_the_file_is_indented(self) -> None:
        check('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"servers": {\n\t\t"x": {\n\t\t\t"k": 1\n\t\t}\n\t}\n}', {"k": 1})
        check('{\n    "a": 1\n}', '{\n    "a": 1,\n    "servers": {\n        "x": 1\n    }\n}')

    def test_on_one_line(self) -> None:
        check('{"a":1}', '{"a":1, "servers": {"x": {"k": 1}}}', {"k": 1})
        check('{"servers":{"a":1}}', '{"servers":{"a":1, "x": 1}}')
        check('{"servers":{"a":1,"x":5}}\n', '{"servers":{"a":1,"x":1}}\n')

    def test_with_line_ends_of_windows(self) -> None:
        check('{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "servers": {\r\n    "x": 1\r\n  }\r\n}\r\n')

    def test_comments_stay_with_what_they_are_about(self) -> None:
        check(
            '// head\n{\n  // about a\n  "a": 1 // one\n  // last\n}\n// tail\n',
            '// head\n{\n  // about a\n  "a": 1, // one\n  "servers": {\n    "x": 1\n  }\n  // last\n}\n// tail\n',
        )
        check('{\n  "a": 1 /* one */\n}', '{\n  "a": 1, /* one */\n  "servers": {\n    "x": 1\n  }\n}')

    def test_a_comma_at_the_end(self) -> None:
        check('{\n  "a": 1, // one\n}', '{\n  "a": 1, // one\n  "servers": {\n    "x": 1\n  },\n}')
        check('{\n  "servers": {"a": 1,},\n}', '{\n  "servers": {"a": 1, "x": 1,},\n}')

    def test_a_byte_order_mark(self) -> None:
        check('\ufeff{\n  "a": 1\n}', '\ufeff{\n  "a": 1,\n  "servers": {\n    "x": 1\n  }\n}')

    def test_what_looks_like_json_inside_of_strings_and_comments(self) -> None:
        before = '{\n  "servers": {"a": "} // {\\" \\\\"},  /* "x": {} */\n  "http": "http://x"\n}'
        after = '{\n  "servers": {"a": "} // {\\" \\\\", "x": 1},  /* "x": {} */\n  "http": "http://x"\n}'
        check(before, after)

    def test_of_the_same_key_twice_the_last_counts(self) -> None:
        check('{"servers": {"a": 1}, "servers": {"b": 2}}', '{"servers": {"a": 1}, "servers": {"b": 2, "x": 1}}')


class TestRemoving:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ('{\n  "servers": {\n    "x": {\n      "k": 1\n    }\n  }\n}\n', '{\n  "servers": {}\n}\n'),
            ('{\n  "servers": {\n    "a": 1,\n    "x": 1\n  }\n}', '{\n  "servers": {\n    "a": 1\n  }\n}'),
            ('{\n  "servers": {\n    "x": 1,\n    "a": 1\n  }\n}', '{\n  "servers": {\n    "a": 1\n  }\n}'),
            (
                '{\n  "servers": {\n    "a": 1, // one\n    "x": 1\n  }\n}',
                '{\n  "servers": {\n    "a": 1 // one\n  }\n}',
            ),
            ('{\n  "servers": {\n    "a": 1,\n    "x": 1,\n  },\n}', '{\n  "servers": {\n    "a": 1,\n  },\n}'),
            ('{"servers": {"a": 1, "x": {"k": 1}}}', '{"servers": {"a": 1}}'),
            ('{"servers": {"x": 1, "a": 1}}', '{"servers": {"a": 1}}'),
            ('{"servers": {"x": 1}}', '{"servers": {}}'),
            ('{"servers": { "x": 1 }}', '{"servers": {}}'),
            ('{\r\n  "servers": {\r\n    "x": 1\r\n  }\r\n}', '{\r\n  "servers": {}\r\n}'),
            ('{\n  "servers": {\n    // why\n    "x": 1\n  }\n}', '{\n  "servers": {\n    // why\n  }\n}'),
            ('{"servers": {"x": 1, "x": 2}}', '{"servers": {}}'),
        ],
    )
    def test_takes_the_member_and_its_comma(self, before: str, after: str) -> None:
        assert without_member(before, PATH) == after

    @pytest.mark.parametrize(
        "text", ["{}", '{"servers": {}}', '{"servers": 1}', '{"x": 1}', '{"servers": {"y": {"x": 1}}}', "[]"]
    )
    def test_nothing_to_take(self, text: str) -> None:
        assert without_member(text, PATH) == text


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "it ends in line 1"), ('{\n"a": 1', "it ends in line 2"), ('{"a" 1}', "line 1 has '1}'"),
            ("{'a': 1}", "line 1 has \"'a': 1}\""), ('{"a": 1} x', "line 1 has 'x'"), ('{"a": }', "line 1 has '}'"),
            ('{\n"a": 1\n"b": 2}', "line 3 has"), ("{,}", "line 1 has ',}'"), ('{"a": "b\nc"}', "line 1 has"),
            ('{"a": /* 1}', "line 1 has '/* 1}'"), ("[1 2]", "line 1 has '2]'"), ("3", "the file is a number"),
            ('{"servers": []}', "servers is a list"), ('{"servers": null}', "servers is null"),
            ("[]", "the file is a list"),
            ('{"servers": "x"}', "servers is a string"), ('{"servers": true}', "servers is true or false"),
            ("[" * 5000, "nested more than 100"), ('{"a":' * 5000, "nested more than 100"),
            ("{" + "/*" * 50_000, "line 1 has"), ('{"a": ' + "9" * 5000 + "}", "line 1 has"),
        ],
    )  # fmt: skip
    def test_with_the_place(self, text: str, message: str) -> None:
        with pytest.raises(NotJson, match=re.escape(message)):
            with_member(text, PATH, 1)


_KEYS = st.sampled_from(["servers", "x", "a", "é", 'quo"te', ""])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "// no", "}", "/* */", "\\"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)
_FILES = st.dictionaries(_KEYS, _VALUES, max_size=4)


@given(_FILES, st.sampled_from([None, 0, 1, 2, 4, "\t"]), _VALUES)
def test_any_file_gets_the_member_and_loses_it_again(
    file: dict[str, object], indent: int | str | None, data: object
) -> None:
    text = json.dumps(file, indent=indent, ensure_ascii=False)
    servers = file.get("servers", {})
    if not isinstance(servers, dict):
        with pytest.raises(NotJson):
            with_member(text, PATH, data)
        return
    added = with_member(text, PATH, data)
    assert json.loads(added) == {**file, "servers": {**servers, "x": data}}
    assert [*json.loads(added)] == [*file, *(["servers"] if "servers" not in file else [])]
    rest = {key: value for key, value in servers.items() if key != "x"}
    assert json.loads(without_member(added, PATH)) == {**file, "servers": rest}


@given(st.text(alphabet='{}[]",:/*\\ \n\ta1', max_size=40))
def test_any_text_is_changed_rightly_or_refused(text: str) -> None:
    try:
        added = with_member(text, PATH, {"k": [1]})
    except NotJson:
        return
    assert get_member(added, PATH) == {"k": [1]}
    assert get_member(without_member(added, PATH), PATH) is None
