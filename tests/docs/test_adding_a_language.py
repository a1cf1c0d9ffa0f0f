"""docs/adding-a-language.md is the reference of keys and captures; what it says of a language's files holds."""

import importlib.util
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from causalist.errors import GrammarError
from causalist.model.language_settings import ModuleSystem
from causalist.parse import languages
from causalist.parse.languages import _read_settings, grammars_folder
from causalist.parse.syntax.capture_names import TAG_OF_CAPTURE
from tests.docs import language_keys, tables
from tests.docs.blocks import DOCS, ROOT, blocks_of
from tests.docs.markdown import fenced_blocks
from tests.grammars import grammars_at
from tests.languages import test_cases as cases
from tests.parse import test_robustness as robustness
from tests.parse.facts_of import facts_of

_TEXT = (DOCS / "adding-a-language.md").read_text(encoding="utf-8")
_KEYS = [name for row in tables.rows_after(_TEXT, "## Keys of language.toml") for name in tables.codes(row[0])]
_CAPTURES = [name for row in tables.rows_after(_TEXT, "## Captures") for name in tables.codes(row[0])]


def test_the_captures_are_those_of_the_code() -> None:
    assert len(_CAPTURES) == len(set(_CAPTURES))
    assert {name.removeprefix("@") for name in _CAPTURES} == set(TAG_OF_CAPTURE)


def test_every_capture_is_used_by_a_grammar() -> None:
    queries = "\n".join(file.read_text(encoding="utf-8") for file in grammars_folder().glob("*/*.scm"))
    used = set(re.findall(r"@([a-z][\w.]*)", queries)) | {"error"}
    assert used == set(TAG_OF_CAPTURE)


def test_the_table_of_keys_is_that_of_the_settings() -> None:
    assert blocks_of(_TEXT, "generated") == language_keys.contents(), "run `python -m tests.docs.language_keys --write`"
    assert len(_KEYS) == len(set(_KEYS))
    assert set(_KEYS) == set(language_keys.key_names())


def test_the_keys_are_those_of_the_grammars() -> None:
    found: set[str] = set()
    for file in grammars_folder().glob("*/language.toml"):
        for key, value in tomllib.loads(file.read_text(encoding="utf-8")).items():
            inner = {name for each in value for name in each} if isinstance(value, list) and key == "repairs" else value
            inner = inner[0] if isinstance(inner, list) else inner
            found |= {f"{key}.{each}" for each in inner} if isinstance(inner, dict | set) else {key}
    assert set(_KEYS) == found


def test_every_row_has_a_meaning_and_an_example() -> None:
    for heading in ("## Keys of language.toml", "## Captures"):
        for row in tables.rows_after(_TEXT, heading):
            assert len(row) == 3 and all(row), row


def _smallest(keys: list[str]) -> str:
    """A settings file that has nothing but these keys; those of dialects are given by the caller of the loader."""
    values: dict[str, dict[str, str]] = {}
    for key in keys:
        table, _, name = key.rpartition(".")
        values.setdefault(table, {})[name] = _VALUES.get(key, "[]")
    lines = [f"{name} = {value}" for name, value in values.pop("", {}).items()]
    for table, entries in values.items():
        lines.append(f"[[{table}]]" if table == "dialects" else f"[{table}]")
        lines += [f"{name} = {value}" for name, value in entries.items()]
    return "\n".join(lines)


_VALUES = {
    "name": '"x"',
    "dialects.name": '"x"',
    "dialects.package": '"x"',
    "dialects.function": '"x"',
    "names.scope_starts_at_body": "false",
    "names.class_scope_is_visible": "false",
    "modules.system": '"path"',
    "comments.doc": '"comment"',
}


def _required() -> list[str]:
    (sentence,) = re.findall(r"These must be there: (.*?)\.\n", _TEXT, re.DOTALL)
    return tables.codes(sentence)


def test_the_keys_that_must_be_there_are_enough(tmp_path: Path) -> None:
    file = tmp_path / "language.toml"
    file.write_text(_smallest(_required()))
    read = _read_settings(file)
    assert (read.name, read.family, read.modules.system) == ("x", "x", ModuleSystem.PATH)


@pytest.mark.parametrize("key", _required())
def test_a_key_that_must_be_there_is_missed(tmp_path: Path, key: str) -> None:
    file = tmp_path / "language.toml"
    file.write_text(_smallest([each for each in _required() if each != key]))
    with pytest.raises(
        GrammarError, match=re.escape("builtin" if key == "builtin.methods" else key.rpartition(".")[2])
    ):
        _read_settings(file)


def test_every_language_has_cases_and_a_wheel_that_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for folder in sorted(path.parent for path in grammars_folder().glob("*/language.toml")):
        assert list((ROOT / "tests" / "languages" / folder.name).glob("*.case")), folder.name
        settings = tomllib.loads((folder / "language.toml").read_text(encoding="utf-8"))
        extra = settings.get("extra")
        declared = project["optional-dependencies"][extra] if extra else project["dependencies"]
        for dialect in settings["dialects"]:
            wheel = dialect["package"].replace("_", "-")
            (entry,) = [each for each in declared if re.match(rf"{wheel}\b(?!-)", each)]
            assert "<" in entry, f"{entry} has no upper bound"


def test_every_module_system_is_in_the_table_of_the_first_step() -> None:
    listed = [row[0] for row in tables.rows_after(_TEXT, "(`modules.system`):")]
    assert sorted(name.strip("`") for name in listed) == sorted(ModuleSystem)


def test_every_file_and_program_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`((?:causalist|tests|docs|grammars)/[\w./-]+|[\w-]+\.(?:md|toml))`", _TEXT))
    elsewhere = {"language.toml", "Cargo.toml"}  # of the language that is added, and of repositories
    assert {
        "pyproject.toml",
        "README.md",
        "causalist/model/language_settings.py",
        "tests/parse/test_robustness.py",
    } <= named
    assert {name for name in named - elsewhere if not (ROOT / name).exists()} == set()
    # Modules that are named without their package.
    modules = {path.name for path in (ROOT / "causalist").rglob("*.py")}
    assert {"role_by_path.py", "manifests.py", "capture_names.py"} <= set(re.findall(r"`(\w+\.py)`", _TEXT)) <= modules
    for module in re.findall(r"python -m (tests[\w.]+)", _TEXT):
        assert importlib.util.find_spec(module), module
    for data in re.findall(r"^python -m .*? (tests/\S+)", _TEXT, re.MULTILINE):
        assert (ROOT / data).is_file(), data


def test_every_dialect_is_in_the_list_of_the_generic_tests() -> None:
    known = [d for s in {id(s): s for s in languages.load_settings().values()}.values() for d in s.dialects]
    behind = {dialect.fallback for dialect in known}
    assert {dialect.name for dialect in known} - behind == set(robustness._DIALECTS)


def _block(language: str) -> str:
    """The only block of the page in this language; of `text` the one that is a case."""
    found = [block.text for block in fenced_blocks(_TEXT) if block.language == language]
    (text,) = [each for each in found if language != "text" or "--- file:" in each]
    return text


@pytest.fixture
def smallest(tmp_path: Path) -> Iterator[str]:
    """A folder of grammars with the language that the page spells out, and nothing else; gives its dialect."""
    settings = _block("toml")
    name = str(tomllib.loads(settings)["name"])
    (tmp_path / name).mkdir()
    (tmp_path / name / "language.toml").write_text(settings, encoding="utf-8")
    (tmp_path / name / "tags.scm").write_text(_block("scheme"), encoding="utf-8")
    with grammars_at(tmp_path):
        yield name


def test_the_smallest_language_of_the_page_does_what_the_page_says(smallest: str) -> None:
    assert list(languages.load_settings()) == [smallest]
    cases.check(_block("text"))
    facts = facts_of("<?php\nclass A {\n    /** Opens. More. */\n    function open() { f(); }\n}\n", smallest)
    assert [(d.qualname, d.doc) for d in facts.definitions] == [("A", ""), ("A.open", "Opens.")]
    assert [(call.scope, call.callee) for call in facts.calls] == [(1, "f")]


def test_the_smallest_language_of_the_page_passes_the_generic_tests(smallest: str) -> None:
    for data in (b"", b"\xff\0", b"<?php class {", b"<?php function f( {", b"<?php " + b"f(" * 2000):
        robustness.assert_sound(facts_of(data, smallest), data)
    text = (ROOT / "tests" / "languages" / "php" / "receivers.case").read_bytes()
    for cut in range(0, len(text), 97):
        robustness.assert_sound(facts_of(text[:cut], smallest), text[:cut])
