"""Languages of `grammars/`: settings of all of them at once, each tree-sitter grammar on first use."""

import importlib
import importlib.util
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import tree_sitter

from causalist._internal.lazy import dataclass, defer_import, lazy_regex
from causalist.errors import GrammarError
from causalist.model.language_settings import (
    CommentSettings,
    ConversionSettings,
    Dialect,
    HandlerSettings,
    LambdaSettings,
    LanguageSettings,
    LookupSettings,
    ModuleSettings,
    ModuleSystem,
    NameSettings,
    PreprocessorSettings,
    Repair,
    ShapeSettings,
    TestSettings,
    TypeSettings,
)
from causalist.parse.grammar_digest import grammars_folder, wheels

_INTERPRETER = lazy_regex(rb"#![ \t]*(?:\S*/env[ \t]+(?:-S[ \t]+)?)?(?:[^\s/]*/)*([A-Za-z]+)[\d.]*(?=\s|$)")

# Keys of a language.toml that are read without parsing it: those of languages that may not be installed.
_EXTRA = lazy_regex(r'^extra = "(\w+)"$', re.MULTILINE)
_PACKAGE_KEY = lazy_regex(r'^package = "(\w+)"$', re.MULTILINE)
_EXTENSIONS_KEY = lazy_regex(r"^extensions = \[([^\]]*)\]", re.MULTILINE)
_REST = lazy_regex(r"^\[(?!\[dialects\]\])", re.MULTILINE)  # the first table behind the dialects
_SHARED_KEY = lazy_regex(r"^shared = \[([^\]]*)\]", re.MULTILINE)
_CLAIMS_KEY = lazy_regex(r"^claims = \[([^\]]*)\]", re.MULTILINE)
_QUOTED = lazy_regex(r'"(\.[^"]+)"')


@dataclass(frozen=True, slots=True)
class TreeParser:
    """Dialect that is ready to be parsed to syntax trees; its query is not read."""

    dialect: Dialect
    settings: LanguageSettings
    parser: tree_sitter.Parser


@dataclass(frozen=True, slots=True)
class Grammar:
    """Dialect that is ready to parse.

    `version` changes with the grammar wheel, the settings and the queries. Facts of another version are not reused.
    """

    dialect: Dialect
    settings: LanguageSettings
    parser: tree_sitter.Parser
    query: tree_sitter.Query
    version: str


class _Settings(Mapping[str, LanguageSettings]):
    """Settings by dialect name; a language.toml is read when a dialect of it is asked for, because that takes long."""

    def __init__(self, folder_by_dialect: Mapping[str, str]) -> None:
        self._folder_by_dialect = folder_by_dialect

    def __getitem__(self, dialect: str) -> LanguageSettings:
        return load_language(self._folder_by_dialect[dialect])

    def __contains__(self, dialect: object) -> bool:
        return dialect in self._folder_by_dialect

    def __iter__(self) -> Iterator[str]:
        return iter(self._folder_by_dialect)

    def __len__(self) -> int:
        return len(self._folder_by_dialect)


@lru_cache(maxsize=1)
def load_settings() -> Mapping[str, LanguageSettings]:
    """Return the settings by dialect name, for every folder of `grammars/` whose grammar is there.

    The grammar of an extra may be missing: nothing is known of its language then. Others are required. Raises
    GrammarError, also when a dialect is looked up.
    """
    folder_by_dialect: dict[str, str] = {}
    for folder, dialects in _list_dialects().items():
        for dialect in dialects:
            if dialect.name in folder_by_dialect:
                raise GrammarError(f"{folder}/language.toml: dialect {dialect.name!r} is defined twice")
            folder_by_dialect[dialect.name] = folder
    return _Settings(folder_by_dialect)


@cache
def load_language(folder: str) -> LanguageSettings:
    """Return the settings of a language, named like its folder. Raises GrammarError."""
    return _read_settings(grammars_folder() / folder / "language.toml")


@lru_cache(maxsize=1)
def _list_dialects() -> Mapping[str, tuple[Dialect, ...]]:
    """Return the dialects by folder. Only the first part of each language.toml is read, which ends with them."""
    found: dict[str, tuple[Dialect, ...]] = {}
    for file in sorted(grammars_folder().glob("*/language.toml")):
        text = file.read_text(encoding="utf-8")
        if _EXTRA.search(text) and not all(map(_is_installed, _PACKAGE_KEY.findall(text))):
            continue
        rest = _REST.search(text)
        try:
            data = tomllib.loads(text[: rest.start()] if rest else text)
            found[file.parent.name] = tuple(_read_dialect(entry) for entry in data["dialects"])
        except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
            raise GrammarError(f"{file}: {type(error).__name__}: {error}") from error
    return found


@lru_cache(maxsize=1)
def extensions() -> Mapping[str, str]:
    """Return the dialect name by file extension (with the dot) or lower-case name of a file without one."""
    return {
        end: dialect.name
        for dialects in _list_dialects().values()
        for dialect in dialects
        for end in (*dialect.extensions, *dialect.names)
    }


def dialect_of(path: str) -> str:
    """Return the dialect that reads `path`, or "" if no grammar does.

    >>> dialect_of("a/b.py"), dialect_of("a/B.TSX"), dialect_of("notes.txt")
    ('python', 'tsx', '')
    """
    return extensions().get(_extension(path), "")


@lru_cache(maxsize=1)
def missing_languages() -> Mapping[str, tuple[str, str]]:
    """Return (language, its extra) by file extension, for languages whose grammar is not installed.

    The files are searched for these keys and not parsed, because this is asked of every index.
    """
    missing: dict[str, tuple[str, str]] = {}
    installed = _list_dialects()
    for file in sorted(grammars_folder().glob("*/language.toml")):
        text, name = file.read_text(encoding="utf-8"), file.parent.name
        extra = _EXTRA.search(text)
        if extra and name not in installed:
            listed = " ".join(_EXTENSIONS_KEY.findall(text))
            missing.update(dict.fromkeys(_QUOTED.findall(listed), (name, extra[1])))
    return missing


@lru_cache(maxsize=1)
def companions_of_missing() -> Mapping[str, frozenset[str]]:
    """Return further extensions of a missing language by each that it shares with others, as MATLAB has `.m`, too.

    A file may be of that language only if the repository has a file with one of them, or if the language has no other.
    """
    companions: dict[str, frozenset[str]] = {}
    for name in sorted({language for language, _ in missing_languages().values()}):
        text = (grammars_folder() / name / "language.toml").read_text(encoding="utf-8")
        keys = (_SHARED_KEY, _EXTENSIONS_KEY, _CLAIMS_KEY)
        shared, own, claimed = (set(_QUOTED.findall(" ".join(key.findall(text)))) for key in keys)
        companions.update(dict.fromkeys(sorted(shared), frozenset((own | claimed) - shared)))
    return companions


@lru_cache(maxsize=1)
def lone_missing_languages() -> Mapping[str, tuple[str, str]]:
    """Return (language, its extra) by an extension that others have, too, for missing ones that have no other."""
    lone: dict[str, tuple[str, str]] = {}
    for file in sorted(grammars_folder().glob("*/language.toml")):
        text = file.read_text(encoding="utf-8")
        shared, own = (set(_QUOTED.findall(" ".join(key.findall(text)))) for key in (_SHARED_KEY, _EXTENSIONS_KEY))
        extra = _EXTRA.search(text)
        if extra and own == shared and file.parent.name not in _list_dialects():
            lone.update(dict.fromkeys(sorted(shared), (file.parent.name, extra[1])))
    return lone


def missing_language_of(path: str) -> tuple[str, str] | None:
    """Return (language, its extra) of a file that the grammar of an extra would read; None for any other file."""
    return missing_languages().get(_extension(path))


def _is_installed(package: str) -> bool:
    return package in wheels() or importlib.util.find_spec(package) is not None


def _claims(path: str) -> list[tuple[str, str]]:
    """Return (dialect, signs) of the dialects that claim files with the extension of this one."""
    return claims().get(_extension(path), [])


@lru_cache(maxsize=1)
def claims() -> Mapping[str, list[tuple[str, str]]]:
    """Return (dialect, signs) of the claiming dialects by file extension."""
    claims_by_extension: dict[str, list[tuple[str, str]]] = {}
    for dialects in _list_dialects().values():
        for dialect in dialects:
            for extension in dialect.claims:
                claims_by_extension.setdefault(extension, []).append((dialect.name, dialect.signs))
    return claims_by_extension


@cache
def _compile_signs(signs: str) -> "re.Pattern[bytes]":
    return re.compile(signs.encode(), re.MULTILINE)


def claimants(path: str) -> tuple[str, ...]:
    """Return the dialects that may read a file instead of `dialect_of(path)`, depending on its content."""
    return tuple(dialect for dialect, _ in _claims(path))


def dialect_for(path: str, data: bytes) -> str:
    r"""Return the dialect that reads a file with this path and content.

    >>> dialect_for("a.h", b"struct a {};"), dialect_for("a.h", b"namespace a {\n}"), dialect_for("a.py", b"")
    ('c', 'cpp', 'python')
    >>> dialect_for("app_de.ts", b'<?xml version="1.0"?>\n<!DOCTYPE TS>')
    ''
    """
    if _extension(path) == ".ts" and data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<?xml", b"<!DOCTYPE", b"<TS")):
        return ""  # translations of Qt, which has the suffix from before TypeScript
    for dialect, signs in _claims(path):
        if _compile_signs(signs).search(data):
            return dialect
    dialect = dialect_of(path)
    only = _only().get(_extension(path)) if dialect else None
    return "" if only is not None and not _compile_signs(only).search(data) else dialect


@lru_cache(maxsize=1)
def _only() -> Mapping[str, str]:
    """Return the signs without which a file is not of the dialect that its extension is of, by extension."""
    dialects = chain.from_iterable(_list_dialects().values())
    return {end: dialect.signs for dialect in dialects for end in dialect.shared}


def _extension(path: str) -> str:
    name = path.rsplit("/", 1)[-1].lower()
    dot = name.rfind(".")
    return name[dot:] if dot >= 0 else name


def may_be_script(path: str) -> bool:
    """Return True if only the first line of a file of this name can decide its dialect.

    >>> may_be_script("bin/setup"), may_be_script("bin/setup.txt")
    (True, False)
    """
    return "." not in path.rpartition("/")[2] and (not dialect_of(path) or _extension(path) in _only())


def script_dialect(data: bytes) -> str:
    """Return the dialect of the interpreter in the first line, or "".

    >>> script_dialect(b"#!/usr/bin/env bash"), script_dialect(b"#! /bin/sh -e"), script_dialect(b"#!/bin/awk -f")
    ('bash', 'bash', '')
    """
    interpreter = _INTERPRETER.match(data)
    return _interpreters().get(interpreter[1].decode(), "") if interpreter else ""


@lru_cache(maxsize=1)
def _interpreters() -> Mapping[str, str]:
    dialects = chain.from_iterable(_list_dialects().values())
    return {name: dialect.name for dialect in dialects for name in dialect.interpreters}


@cache
def load_parser(dialect_name: str) -> TreeParser:
    """Return the parser of a dialect, without its query, whose compilation takes most of the time.

    Raises GrammarError if the wheel is missing.
    """
    settings = load_settings().get(dialect_name)
    if settings is None:
        raise GrammarError(f"no grammar {dialect_name!r}; there are {', '.join(sorted(load_settings()))}")
    dialect = next(d for d in settings.dialects if d.name == dialect_name)
    try:
        with defer_import("importlib.resources", functions=("files",)):  # for queries of the package, not used here
            module = importlib.import_module(dialect.package)
        language = tree_sitter.Language(in_capsule(getattr(module, dialect.function)()))
    except (ImportError, AttributeError, ValueError) as error:
        raise GrammarError(f"grammar {dialect_name!r}: {dialect.package} does not load: {error}") from error
    return TreeParser(dialect, settings, tree_sitter.Parser(language))


_CAPSULE_NAME = b"tree_sitter.Language"  # kept, because a capsule has only its address


def in_capsule(language: object) -> object:
    """Return what a wheel gives as its grammar, in a capsule.

    Some wheels give an address instead, which tree-sitter takes with a warning, and will not take for ever.
    """
    if not isinstance(language, int):
        return language
    import ctypes  # few wheels need it

    signature = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    new_capsule = signature(("PyCapsule_New", ctypes.pythonapi))
    return new_capsule(language, _CAPSULE_NAME, None)


@cache
def load_grammar(dialect_name: str) -> Grammar:
    """Return the parser and the combined query of a dialect.

    Raises GrammarError if the wheel is missing or the query does not fit the grammar.
    """
    dialect, settings, parser = (loaded := load_parser(dialect_name)).dialect, loaded.settings, loaded.parser
    folder = grammars_folder() / settings.name
    source = _query_source(folder, dialect, settings.preprocessor.conditions)
    assert parser.language is not None
    try:
        query = tree_sitter.Query(parser.language, source)
    except tree_sitter.QueryError as error:
        raise GrammarError(f"{folder}: {', '.join(dialect.queries)}: {error}") from error
    return Grammar(dialect, settings, parser, query, grammar_version(dialect_name))


@cache
def grammar_version(dialect_name: str) -> str:
    """Return `Grammar.version` without loading the grammar."""
    settings = load_settings()[dialect_name]
    dialect = next(d for d in settings.dialects if d.name == dialect_name)
    folder = grammars_folder() / settings.name
    version = _compute_version(dialect, settings, _query_source(folder, dialect, settings.preprocessor.conditions))
    return f"{version}+{grammar_version(dialect.fallback)}" if dialect.fallback else version


def _query_source(folder: Path, dialect: Dialect, macros: bool) -> str:
    """Return all query files of the dialect as one query, and the captures that every grammar has."""
    parts = [(folder / name).read_text(encoding="utf-8") for name in dialect.queries]
    # With macros, a node that seems to be missing may come from one.
    errors = ["(ERROR) @error"] if macros else ["(ERROR) @error", "(MISSING) @error"]
    return "\n".join([*parts, *errors])


def _compute_version(dialect: Dialect, settings: LanguageSettings, query: str) -> str:
    import hashlib

    wheel = wheels().get(dialect.package) or _read_installed_version(dialect.package)
    digest = hashlib.sha256(f"{wheel}\n{settings!r}\n{query}".encode()).hexdigest()
    return digest[:16]


def _read_installed_version(package: str) -> str:
    """Return the version of a package that was not installed from a wheel. Reading it takes 15 ms."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package.replace("_", "-"))
    except PackageNotFoundError:
        return "unknown"


def _read_settings(path: Path) -> LanguageSettings:
    """Read a language.toml, whose keys are the fields of `model.language`.

    Raises GrammarError for an unknown key and for a missing one.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        names, modules, builtin = (
            _freeze_values(data["names"]),
            _freeze_values(data["modules"]),
            _freeze_values(data["builtin"]),
        )
        return LanguageSettings(
            name=data["name"],
            family=data.get("family", data["name"]),
            dialects=tuple(_read_dialect(entry) for entry in data["dialects"]),
            names=NameSettings(self_names=names.pop("self"), super_names=names.pop("super"), **names),
            modules=ModuleSettings(system=ModuleSystem(modules.pop("system")), **modules),
            comments=CommentSettings(**_freeze_values(data["comments"])),
            builtin_methods=dict.fromkeys(builtin["methods"]),
            builtin_names=builtin.get("names", ()),
            builtin_objects=builtin.get("objects", ()),
            types=TypeSettings(**_freeze_values(data.get("types", {}))),
            conversions=ConversionSettings(**_freeze_values(data.get("conversions", {}))),
            shapes=ShapeSettings(**_freeze_values(data.get("shapes", {}))),
            tests=TestSettings(**_freeze_values(data.get("tests", {}))),
            lambdas=LambdaSettings(**_freeze_values(data.get("lambdas", {}))),
            handlers=HandlerSettings(**_freeze_values(data.get("handlers", {}))),
            lookups=tuple(LookupSettings(**_freeze_values(each)) for each in data.get("lookups", ())),
            preprocessor=PreprocessorSettings(**_freeze_values(_with_files(data.get("preprocessor", {}), path.parent))),
            repairs=tuple(Repair(**each) for each in data.get("repairs", ())),
            extra=data.get("extra", ""),
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise GrammarError(f"{path}: {type(error).__name__}: {error}") from error


def _with_files(preprocessor: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the table with the expressions of a file in the place of its name, which languages share."""
    blank: list[str] = []
    for written in preprocessor.get("blank", ()):
        is_file = written.endswith(".toml")
        blank += tomllib.loads((folder / written).read_text(encoding="utf-8"))["blank"] if is_file else [written]
    return {**preprocessor, "blank": blank}


def _read_dialect(entry: Mapping[str, Any]) -> Dialect:
    values = _freeze_values({key: value for key, value in entry.items() if key != "names"})
    return Dialect(**values, names=tuple(name.lower() for name in entry.get("names", ())))


def _freeze_values(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _freeze(value) for key, value in table.items()}


def _freeze(value: Any) -> Any:
    """Return lists as tuples and tables as tuples of (key, value), because settings are hashed."""
    if isinstance(value, dict):
        return tuple((key, _freeze(each)) for key, each in value.items())
    return tuple(_freeze(each) for each in value) if isinstance(value, list) else value
