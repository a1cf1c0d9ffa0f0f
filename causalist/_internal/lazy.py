"""Names of a package that are loaded, modules of others that are imported, expressions that are compiled, and methods
of dataclasses that are written, when they are first used.

A cold answer needs a small part of what its packages offer, and importing all of it costs more than answering.
"""

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, overload


def exports(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of `package`: `homes` has the names, parted by spaces, by the module of
    the package that they come from."""
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


class _LateModule(ModuleType):
    """A module that is imported when something of it is used. While others are being loaded, what is in `annotated`
    is asked for to say what a parameter is."""

    def __init__(self, name: str, annotated: Collection[str]) -> None:
        super().__init__(name)
        self.__dict__["_annotated"] = frozenset(annotated)

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__["_annotated"]:
            return object
        if name.startswith("__"):
            raise AttributeError(name)  # what looks at all modules uses nothing of this one
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def defer_import(name: str, annotated: Collection[str] = ()) -> Iterator[None]:
    """Whoever imports a module meanwhile, as `import name`, has it loaded by the first use of something in it; uses of
    the names in `annotated` do not count until then."""
    if name in sys.modules:
        yield
        return
    late = sys.modules[name] = _LateModule(name, annotated)
    try:
        yield
    finally:
        late.__dict__["_annotated"] = frozenset()
        if sys.modules.get(name) is late:
            del sys.modules[name]


class _Late:
    """An expression that is compiled when it is first used: most of them are about what few questions hold."""

    def __init__(self, pattern: Any, flags: int, needs: tuple[Any, ...]) -> None:
        self._source = (pattern, flags)
        self._needs = needs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._needs and name in _WITHOUT_A_MATCH:
            asked = self._unless_needed(name)
            setattr(self, name, asked)
            return asked
        return getattr(self._compiled(), name)

    def _compiled(self) -> Any:
        compiled = re.compile(*self._source)
        for each in ("match", "search", "fullmatch", "finditer", "findall", "sub", "split", "pattern", "groups"):
            setattr(self, each, getattr(compiled, each))  # found without a detour from here on
        return compiled

    def _unless_needed(self, name: str) -> Callable[..., Any]:
        needs, without = self._needs, _WITHOUT_A_MATCH[name]

        def asked(*arguments: Any) -> Any:
            text = arguments[1] if name == "sub" else arguments[0]
            for each in needs:
                if each in text:
                    return getattr(self._compiled(), name)(*arguments)
            return without(text)

        return asked


_WITHOUT_A_MATCH: Mapping[str, Callable[[Any], Any]] = {
    "match": lambda text: None,
    "search": lambda text: None,
    "fullmatch": lambda text: None,
    "finditer": lambda text: iter(()),
    "findall": lambda text: [],
    "sub": lambda text: text,
}


@overload
def lazy_regex(pattern: str, flags: int = 0, *, needs: tuple[str, ...] = ()) -> re.Pattern[str]: ...
@overload
def lazy_regex(pattern: bytes, flags: int = 0, *, needs: tuple[bytes, ...] = ()) -> re.Pattern[bytes]: ...
def lazy_regex(pattern: str | bytes, flags: int = 0, *, needs: tuple[Any, ...] = ()) -> Any:
    """`re.compile`, when it is first used; with `needs`, when a text has one of these, without which none matches."""
    return _Late(pattern, flags, needs)


_WORTH_WRITING = 20  # instances of a class: then its own `__init__` is quicker than one for all
_set = object.__setattr__
_COMPARED = ("__repr__", "__eq__", "__hash__")


def _record(*, frozen: bool, slots: bool) -> Callable[[type], type]:
    """`dataclasses.dataclass(frozen=True, slots=True)`, of classes without bases. What that writes and compiles for a
    class takes half a millisecond, and no answer needs most of it: here the fields and each of the methods are made
    when they are first asked for."""
    assert frozen and slots

    def decorated(cls: type) -> type:
        given = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
        names = tuple(given.get("__annotations__", ()))
        defaults = {name: given.pop(name) for name in names if name in given}
        assert cls.__bases__ == (object,)
        added: dict[str, Any] = {
            "__slots__": names,
            "__match_args__": names,
            "__init__": _initializer(names, defaults, given.get("__annotations__", {}), "__post_init__" in given),
            "__signature__": _OfModel("__signature__", defaults),
            "__dataclass_fields__": _OfModel("__dataclass_fields__", defaults),
            "__dataclass_params__": _OfModel("__dataclass_params__", defaults),
            "__setattr__": _refused_to_set,
            "__delattr__": _refused_to_delete,
            "__getstate__": _state,
            "__setstate__": _set_state,
        }
        if given.get("__hash__") is None:
            given.pop("__hash__", None)
        added |= {name: _of_model(name, defaults) for name in _COMPARED}
        return type(cls.__name__, (), {**added, **given})

    return decorated


def _model(cls: type, defaults: Mapping[str, Any], *, written: bool, is_checked: bool = False) -> type:
    """What `dataclasses` makes of these fields, with methods where they are to be `written`: they hold for whatever
    has these fields."""
    body = {"__annotations__": cls.__annotations__, "__module__": cls.__module__, "__doc__": cls.__name__}
    checked = {"__post_init__": None} if is_checked else {}  # it is that of the instance which is called
    made = type(cls.__name__, (), {**defaults, **body, **checked})
    return dataclasses.dataclass(init=written, repr=written, eq=written, frozen=written)(made)


class _OfModel:
    """An attribute of a class that is that of its model."""

    def __init__(self, name: str, defaults: Mapping[str, Any]) -> None:
        self._name, self._defaults = name, defaults

    def __get__(self, instance: object, owner: type) -> Any:
        model = _model(owner, self._defaults, written=self._name != "__dataclass_fields__")
        value = inspect.signature(model) if self._name == "__signature__" else getattr(model, self._name)
        setattr(owner, self._name, value)
        return value


def _of_model(name: str, defaults: Mapping[str, Any]) -> Callable[..., Any]:
    def method(self: Any, *others: Any) -> Any:
        made = _model(type(self), defaults, written=True).__dict__[name]
        setattr(type(self), name, made)
        return made(self, *others)

    return method


def _initializer(
    names: tuple[str, ...], defaults: Mapping[str, Any], types: Mapping[str, Any], is_checked: bool
) -> Callable[..., None]:
    factories: dict[str, Callable[[], Any]] = {}
    usual: dict[str, Any] = {}
    for name, value in defaults.items():
        if not isinstance(value, dataclasses.Field):
            usual[name] = value
        elif value.default_factory is not dataclasses.MISSING:
            factories[name] = value.default_factory
        elif value.default is not dataclasses.MISSING:
            usual[name] = value.default
    known = factories.keys() | usual.keys()
    n_made = 0

    def initialize(self: Any, *given: Any, **named: Any) -> None:
        nonlocal n_made
        n_made += 1
        rest = names[len(given) :]
        is_right = len(given) <= len(names) and named.keys() <= set(rest)
        if n_made > _WORTH_WRITING or not is_right or not all(name in named or name in known for name in rest):
            written = _model(type(self), defaults, written=True, is_checked=is_checked).__dict__["__init__"]
            type.__setattr__(type(self), "__init__", written)
            written(self, *given, **named)
            return
        for name, value in zip(names, given, strict=False):
            _set(self, name, value)
        for name in rest:
            _set(self, name, named[name] if name in named else usual[name] if name in usual else factories[name]())
        if is_checked:
            self.__post_init__()

    initialize.__annotations__ = {**types, "return": None}
    return initialize


def _refused_to_set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refused_to_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__slots__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        _set(self, name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _record
