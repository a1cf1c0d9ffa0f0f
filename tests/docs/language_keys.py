"""The table of keys in docs/adding-a-language.md, from the docstrings of `causalist/model/language_settings.py`.

    python -m tests.docs.language_keys [--write]

A docstring below a field says what the key means, with an example. It describes all fields since the docstring before.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields

from causalist.model import language_settings
from causalist.model.language_settings import (
    CommentSettings,
    ConversionSettings,
    Dialect,
    HandlerSettings,
    LambdaSettings,
    LanguageSettings,
    LookupSettings,
    ModuleSettings,
    NameSettings,
    PreprocessorSettings,
    Repair,
    ShapeSettings,
    TestSettings,
    TypeSettings,
)
from tests.docs.blocks import DOCS, keep_in_sync, table

PAGE = DOCS / "adding-a-language.md"
TABLES: Mapping[str, type] = {
    "dialects": Dialect,
    "names": NameSettings,
    "modules": ModuleSettings,
    "types": TypeSettings,
    "shapes": ShapeSettings,
    "lambdas": LambdaSettings,
    "comments": CommentSettings,
    "tests": TestSettings,
    "handlers": HandlerSettings,
    "lookups": LookupSettings,
    "conversions": ConversionSettings,
    "preprocessor": PreprocessorSettings,
    "repairs": Repair,
}
# Where a key is called otherwise than the field that keeps it.
SPELLED = {
    "names.self_names": "names.self",
    "names.super_names": "names.super",
    "builtin_methods": "builtin.methods",
    "builtin_objects": "builtin.objects",
    "builtin_names": "builtin.names",
}
_SAID = re.compile(r"(?P<meaning>.+?)\. Example: (?P<example>.+?)\.?")


def key_names() -> list[str]:
    """Return the keys of a settings file, as they are written there."""
    own = [field.name for field in fields(LanguageSettings) if field.name not in TABLES]
    kept = [f"{name}.{field.name}" for name, model in TABLES.items() for field in fields(model) if field.init]
    return [SPELLED.get(name, name) for name in own + kept]


def contents() -> dict[str, str]:
    """Return the generated blocks of the page by name."""
    rows: list[tuple[object, ...]] = []
    for prefix, model in [("", LanguageSettings), *((f"{name}.", model) for name, model in TABLES.items())]:
        for names, said in _described_fields(model.__name__):
            keys = [SPELLED.get(prefix + name, prefix + name) for name in names]
            parts = _SAID.fullmatch(" ".join(said.split()))
            assert parts is not None, f"{model.__name__}.{names[-1]} has no meaning or no example: {said}"
            cells = (", ".join(f"`{key}`" for key in keys), parts["meaning"], parts["example"])
            rows.append(tuple(cell.replace("|", "\\|") for cell in cells))
    return {"language-keys": table(("Key", "Meaning", "Example"), rows)}


def _described_fields(name: str) -> Iterator[tuple[list[str], str]]:
    """Yield the fields of a class that one docstring describes, and the docstring."""
    module = ast.parse(inspect.getsource(language_settings))
    (found,) = (node for node in module.body if isinstance(node, ast.ClassDef) and node.name == name)
    waiting: list[str] = []
    for node in found.body[1:]:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if name != "LanguageSettings" or node.target.id not in TABLES:
                waiting.append(node.target.id)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and waiting:
            yield waiting, str(node.value.value)
            waiting = []


if __name__ == "__main__":
    sys.exit(keep_in_sync(PAGE, contents(), sys.argv[1:]))
