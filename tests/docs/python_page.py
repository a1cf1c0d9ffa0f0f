"""The generated part of docs/python.md: `python -m tests.docs.python_page [--write]`.

Every public name with its docstring, signature, fields and values, as `inspect` sees them.
"""

import dataclasses
import enum
import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

import causalist
from causalist import errors
from tests.docs.blocks import DOCS, keep_in_sync, table

PAGE = DOCS / "python.md"
# In the order in which a reader needs them.
ORDER = (
    "Repository", "AskOptions", "Answer", "Hit", "Edge", "Level", "Order", "RankMode", "Route", "Specificity",
    "IndexOptions", "RefreshCache", "CausalistError",
)  # fmt: skip


def contents() -> dict[str, str]:
    """The generated block of the page."""
    assert sorted(ORDER) == sorted(causalist.__all__)
    return {"reference": "\n" + "\n".join(_entry(name) for name in ORDER)}


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods, also those of bases, in the order in which they are written."""
    seen: set[str] = set()
    for base in cls.__mro__:
        if not base.__module__.startswith("causalist"):
            continue
        for name, member in vars(base).items():
            is_callable = isinstance(member, classmethod | staticmethod) or inspect.isfunction(member)
            if is_callable and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, getattr(cls, name)


def _entry(name: str) -> str:
    cls = getattr(causalist, name)
    parts = [f"## `{name}`\n", _prose(inspect.getdoc(cls))]
    if issubclass(cls, enum.Enum):
        parts.append(table(("name", "value"), [(f"`{name}.{each.name}`", f"`{each.value!r}`") for each in cls]))
    elif issubclass(cls, Exception):
        family = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, cls)]
        rows = sorted((f"`{e.slug}`", f"`errors.{e.__name__}`", _prose(inspect.getdoc(e)).strip()) for e in family)
        parts.append(table(("slug", "class", "when"), list(rows)))
    # What a repository is made of is its own business, as is what other classes are.
    elif name != "Repository" and (dataclasses.is_dataclass(cls) or hasattr(cls, "_fields")):
        parts.append(table(("field", "type", "default"), list(_fields(cls))))
    if dataclasses.is_dataclass(cls) and not issubclass(cls, Exception):
        for method, function in members(cls):
            parts.append(f"\n### `{name}.{method}`\n\n```python\n{_signature(cls, method, function)}\n```\n")
            parts.append(_prose(inspect.getdoc(function)))
    return "\n".join(parts)


def _fields(cls: Any) -> Iterator[tuple[object, ...]]:
    if hasattr(cls, "_fields"):
        for name in cls._fields:
            default = f"`{cls._field_defaults[name]!r}`" if name in cls._field_defaults else ""
            yield f"`{name}`", _cell(cls.__annotations__[name]), default
        return
    for field in dataclasses.fields(cls):
        default = "" if field.default is dataclasses.MISSING else f"`{_value(field.default)}`"
        yield f"`{field.name}`", _cell(field.type), default


def _cell(annotation: Any) -> str:
    return f"`{_type(annotation)}`".replace("|", "\\|")


def _signature(cls: type, name: str, function: Any) -> str:
    """As it is called, one argument a line where it is long."""
    signature = inspect.signature(function)
    kept = [each for each in signature.parameters.values() if each.name != "self"]
    shown = [_parameter(each) for each in kept]
    # The mark before arguments that have to be named.
    first_named = next((i for i, each in enumerate(kept) if each.kind is inspect.Parameter.KEYWORD_ONLY), None)
    if first_named is not None:
        shown.insert(first_named, "*")
    returned = _type(signature.return_annotation)
    line = f"{name}({', '.join(shown)}) -> {returned}"
    if len(line) <= 100:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in shown) + f") -> {returned}"


def _parameter(parameter: inspect.Parameter) -> str:
    shown = f"{parameter.name}: {_type(parameter.annotation)}"
    if parameter.default is not inspect.Parameter.empty:
        shown += f" = {_value(parameter.default)}"
    return shown


def _value(value: object) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    return value.__name__ if inspect.isfunction(value) else repr(value)


def _type(annotation: Any) -> str:
    """Without the modules that names come from."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text.replace("'", "").replace('"', ""))


def _prose(doc: str | None) -> str:
    """A docstring as Markdown: its examples are code, and nothing else of it is markup."""
    assert doc, "a public name has no docstring"
    parts = re.split(r"\n\n(?=>>> )", doc)
    shown = re.sub(r"([<>*|\[\]])", r"\\\1", parts[0])
    return shown + "\n" + "".join(f"\n```python\n{part}\n```\n" for part in parts[1:])


if __name__ == "__main__":
    sys.exit(keep_in_sync(PAGE, contents(), sys.argv[1:]))
