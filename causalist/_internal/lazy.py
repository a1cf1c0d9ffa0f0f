"""Deferred work at import time: package attributes, modules, expressions, dataclass methods, values of enums.

Each is created on first use. A cold answer needs a small part of its packages, and importing all of them costs more
than answering.
"""

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field as field
from enum import Enum
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload


def exports(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of `package` (PEP 562).

    `homes` maps modules of the package to the names they provide, separated by spaces.
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


class _LazyModule(ModuleType):
    """A module that is imported on first use.

    While other modules load, names in `annotated` are only parameter annotations and return `object`. Those in
    `functions` are functions that load the module when they are called.
    """

    def __init__(self, name: str, annotated: Collection[str], functions: Collection[str]) -> None:
        super().__init__(name)
        self.__dict__["_annotated"] = frozenset(annotated)
        self.__dict__["_functions"] = frozenset(functions)

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__["_annotated"]:
            return object
        if name in self.__dict__["_functions"]:
            return lambda *given, **named: getattr(self._load(), name)(*given, **named)
        if name.startswith("__"):
            raise AttributeError(name)  # what looks at all modules uses nothing of this one
        return getattr(self._load(), name)

    def _load(self) -> ModuleType:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return import_module(self.__name__)


@contextmanager
def defer_import(name: str, annotated: Collection[str] = (), functions: Collection[str] = ()) -> Iterator[None]:
    """Let `import name` inside of the block bind a module that is loaded on first use.

    Uses of the names in `annotated` inside of the block do not load it, nor does it to import `functions`.
    """
    if name in sys.modules:
        yield
        return
    late = sys.modules[name] = _LazyModule(name, annotated, functions)
    try:
        yield
    finally:
        late.__dict__["_annotated"] = late.__dict__["_functions"] = frozenset()
        if sys.modules.get(name) is late:
            del sys.modules[name]


class _LazyRegex:
    """A regular expression that is compiled on first use: most apply to few queries."""

    def __init__(self, pattern: Any, flags: int, needs: tuple[Any, ...]) -> None:
        self._source = (pattern, flags)
        self._needs = needs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._needs and name in _RESULT_WITHOUT_MATCH:
            asked = self._unless_needed(name)
            setattr(self, name, asked)
            return asked
        return getattr(self._compile(), name)

    def _compile(self) -> Any:
        compiled = re.compile(*self._source)
        for each in ("match", "search", "fullmatch", "finditer", "findall", "sub", "split", "pattern", "groups"):
            setattr(self, each, getattr(compiled, each))  # found without a detour from here on
        return compiled

    def _unless_needed(self, name: str) -> Callable[..., Any]:
        needs, without = self._needs, _RESULT_WITHOUT_MATCH[name]

        def match_if_needed(*arguments: Any) -> Any:
            text = arguments[1] if name == "sub" else arguments[0]
            for each in needs:
                if each in text:
                    return getattr(self._compile(), name)(*arguments)
            return without(text)

        return match_if_needed


_RESULT_WITHOUT_MATCH: Mapping[str, Callable[[Any], Any]] = {
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
    """Return a regular expression that is compiled on first use.

    With `needs`, texts without any of these strings cannot match and do not cause compilation.
    """
    return _LazyRegex(pattern, flags, needs)


_OWN_INIT_THRESHOLD = 20  # instances of a class: then its own `__init__` is quicker than one for all
_set = object.__setattr__
_COMPARED = ("__repr__", "__eq__", "__hash__")


def _lazy_dataclass(*, slots: bool, frozen: bool = False, eq: bool = True) -> Callable[[type], type]:
    """Return a fast substitute for `dataclasses.dataclass` with slots, without bases.

    The original takes half a millisecond a class, and no answer needs most of it: here fields and methods are created
    on first use.
    """
    assert slots and (eq or not frozen)
    options = _DataclassOptions(frozen, eq)

    def decorate(cls: type) -> type:
        given = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
        names = tuple(given.get("__annotations__", ()))
        defaults = {name: given.pop(name) for name in names if name in given}
        assert cls.__bases__ == (object,)
        is_checked = "__post_init__" in given
        added: dict[str, Any] = {
            "__slots__": names,
            "__match_args__": tuple(each for each in names if getattr(defaults.get(each), "init", True)),
            "__init__": _make_initializer(names, defaults, given.get("__annotations__", {}), options, is_checked),
            "__signature__": _ModelAttribute("__signature__", defaults, options),
            "__dataclass_fields__": _ModelAttribute("__dataclass_fields__", defaults, options),
            "__dataclass_params__": _ModelAttribute("__dataclass_params__", defaults, options),
        }
        if frozen:
            added |= {"__setattr__": _refuse_set, "__delattr__": _refuse_delete}
            added |= {"__getstate__": _get_state, "__setstate__": _set_state}
        if given.get("__hash__") is None:
            given.pop("__hash__", None)
        compared = _COMPARED if frozen else _COMPARED[:2] if eq else _COMPARED[:1]
        added |= {name: _lazy_method(name, defaults, options) for name in compared}
        if eq and not frozen:
            added["__hash__"] = None
        return type(cls.__name__, (), {**added, **given})

    return decorate


class _DataclassOptions(NamedTuple):
    """Arguments of the decorator of a class."""

    frozen: bool
    eq: bool


def _build_model(
    cls: type,
    defaults: Mapping[str, Any],
    options: _DataclassOptions,
    methods: Collection[str] = (),
    *,
    is_checked: bool = False,
) -> type:
    """Return the dataclass of these fields with some of the methods `init`, `repr` and `eq`, which brings `__hash__`.

    The methods work for any class with these fields. Each is compiled, which takes a tenth of a millisecond.
    """
    body = {"__annotations__": cls.__annotations__, "__module__": cls.__module__, "__doc__": cls.__name__}
    checked = {"__post_init__": None} if is_checked else {}  # it is that of the instance which is called
    made = type(cls.__name__, (), {**defaults, **body, **checked})
    init, repr_, eq = ("init" in methods, "repr" in methods, "eq" in methods)
    return dataclasses.dataclass(init=init, repr=repr_, eq=eq, frozen=options.frozen and (init or eq))(made)


class _ModelAttribute:
    """A class attribute that is taken from the model on first use."""

    def __init__(self, name: str, defaults: Mapping[str, Any], options: _DataclassOptions) -> None:
        self._name, self._defaults, self._options = name, defaults, options

    def __get__(self, instance: object, owner: type) -> Any:
        # `__dataclass_params__` say what a dataclass has.
        every = ("init", "repr", "eq") if self._options.eq else ("init", "repr")
        methods = {"__dataclass_fields__": (), "__signature__": ("init",)}.get(self._name, every)
        model = _build_model(owner, self._defaults, self._options, methods)
        value = inspect.signature(model) if self._name == "__signature__" else getattr(model, self._name)
        setattr(owner, self._name, value)
        return value


def _lazy_method(name: str, defaults: Mapping[str, Any], options: _DataclassOptions) -> Callable[..., Any]:
    def method(self: Any, *others: Any) -> Any:
        methods = ("repr",) if name == "__repr__" else ("eq",)
        made = _build_model(type(self), defaults, options, methods).__dict__[name]
        setattr(type(self), name, made)
        return made(self, *others)

    return method


def _make_initializer(
    names: tuple[str, ...],
    defaults: Mapping[str, Any],
    types: Mapping[str, Any],
    options: _DataclassOptions,
    is_checked: bool,
) -> Callable[..., None]:
    names = tuple(each for each in names if getattr(defaults.get(each), "init", True))  # others have no default here
    factories: dict[str, Callable[[], Any]] = {}
    usual: dict[str, Any] = {}
    for name, value in defaults.items():
        if not isinstance(value, dataclasses.Field):
            usual[name] = value
        elif value.default_factory is not dataclasses.MISSING:
            factories[name] = value.default_factory
        elif value.default is not dataclasses.MISSING:
            usual[name] = value.default
    with_default = factories.keys() | usual.keys()
    n_made = 0

    def initialize(self: Any, *given: Any, **named: Any) -> None:
        nonlocal n_made
        n_made += 1
        rest = names[len(given) :]
        is_right = len(given) <= len(names) and named.keys() <= set(rest)
        if (
            n_made > _OWN_INIT_THRESHOLD
            or not is_right
            or not all(name in named or name in with_default for name in rest)
        ):
            written = _build_model(type(self), defaults, options, ("init",), is_checked=is_checked).__dict__["__init__"]
            type.__setattr__(type(self), "__init__", written)
            written(self, *given, **named)
            return
        for name, value in zip(names, given, strict=False):
            _set(self, name, value)
        for name in rest:
            _set(self, name, named[name] if name in named else usual[name] if name in usual else factories[name]())
        if is_checked:
            self.__post_init__()

    initialize.__annotations__ = {**{name: types[name] for name in names}, "return": None}
    return initialize


def _refuse_set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__slots__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        _set(self, name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _lazy_dataclass


E = TypeVar("E", bound=Enum)


def with_direct_members(enum: type[E]) -> type[E]:
    """Return an enum whose members are plain attributes of the class, as they are from Python 3.12 on.

    Python 3.11 finds a member by a call of a function, ten times slower than an attribute. That shows where values are
    compared with members for each name of a repository.
    """
    for member in enum:
        type.__setattr__(enum, member.name, member)
    return enum
