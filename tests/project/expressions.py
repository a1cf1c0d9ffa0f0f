"""Every regular expression of the project, with its flags and where it stands.

Expressions of modules are those that are compiled when all modules are imported, whatever they are made of. Those in
functions are read from the source, if they are constants; those of the grammars from their settings and queries.
`python -m tests.project.expressions` says which of them may take very long; with `--json` it lists them all. Those
that the same analyser checked before are left out (`checked_expressions.txt`); `--all` checks every one, and `--write`
remembers them.
"""

import ast
import hashlib
import importlib
import json
import re
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import causalist
from causalist._internal import lazy as lazily
from tests.project.ambiguity import Fault, faults_of

PACKAGE = Path(causalist.__file__).parent
GRAMMARS = PACKAGE.parent / "grammars"
_FUNCTIONS = ("compile", "match", "search", "fullmatch", "finditer", "findall", "split", "sub", "subn", "expression")
_OF_RE = re.compile(r"\b(?:re|regex)\s*\.|\bexpression\b")
# A string of a setting that is an expression has one of these; words, globs and paths do not.
_SIGNS = re.compile(r"\\[bdDsSwW.\[\](){}$?*+|]|\(\?|\[\^|[*+?)\]]\$|^\^|\|")
# Runs of letters with a `|` between them are expressions as well, and harmless.
_PREDICATE = re.compile(r'#(?:not-|any-)*match\?\s+@[\w.]+\s+("(?:\\.|[^"\\])*")')


class Expression(NamedTuple):
    pattern: str | bytes
    flags: int
    places: tuple[str, ...]


@cache
def all_expressions() -> list[Expression]:
    """Each expression once, by its place."""
    found: dict[tuple[str | bytes, int], list[str]] = {}
    for pattern, flags, place in (*compiled_on_import(), *written_in_functions(), *written_in_grammars()):
        places = found.setdefault((pattern, flags), [])
        if place not in places:
            places.append(place)
    ordered = sorted(found.items(), key=lambda item: (item[1][0], str(item[0])))
    return [Expression(pattern, flags, tuple(places)) for (pattern, flags), places in ordered]


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "grammars" not in path.relative_to(PACKAGE).parts)


def compiled_on_import() -> list[tuple[str | bytes, int, str]]:
    """By all modules of the program, which are imported anew: to be called in a process of its own."""
    found: list[tuple[str | bytes, int, str]] = []

    def noted(frame: FrameType | None, pattern: Any, flags: Any) -> None:
        while frame is not None and frame.f_code.co_filename in (lazily.__file__, __file__):
            frame = frame.f_back
        if (
            frame is not None
            and Path(frame.f_code.co_filename).is_relative_to(PACKAGE)
            and not hasattr(pattern, "flags")
        ):
            name = Path(frame.f_code.co_filename).relative_to(PACKAGE.parent).as_posix()
            found.append((pattern, int(flags), name))

    usual: Callable[..., Any] = re.compile
    late = lazily._LazyRegex.__init__

    def compile_noted(pattern: Any, flags: Any = 0) -> Any:
        noted(sys._getframe(1), pattern, flags)
        return usual(pattern, flags)

    def late_noted(self: Any, pattern: Any, flags: int, needs: tuple[Any, ...]) -> None:
        noted(sys._getframe(1), pattern, flags)
        late(self, pattern, flags, needs)

    kept = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "causalist"}
    for name in kept:
        if name != lazily.__name__:
            del sys.modules[name]
    re.compile = compile_noted  # type: ignore[assignment]
    lazily._LazyRegex.__init__ = late_noted  # type: ignore[method-assign]
    try:
        for path in modules():
            if path.name != "__main__.py":
                name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
                importlib.import_module(name)
    finally:
        re.compile = usual
        lazily._LazyRegex.__init__ = late  # type: ignore[method-assign]
        for name in [name for name in sys.modules if name.partition(".")[0] == "causalist"]:
            del sys.modules[name]
        sys.modules.update(kept)
    return found


def written_in_functions() -> Iterator[tuple[str | bytes, int, str]]:
    """Constants that a function of `re` or `regex` is given."""
    for path, call in _calls():
        pattern = call.args[0]
        if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str | bytes):
            yield pattern.value, _flags(call), path.relative_to(PACKAGE.parent).as_posix()


def made_in_functions() -> list[str]:
    """Where a function makes an expression of parts, as `module: source`: it cannot be read from the source."""
    found = []
    for path, call in _calls(in_functions=True):
        if not isinstance(call.args[0], ast.Constant):
            found.append(f"{path.relative_to(PACKAGE.parent).as_posix()}: {ast.unparse(call.args[0])}")
    return sorted(set(found))


def written_in_grammars() -> Iterator[tuple[str, int, str]]:
    for path in sorted(GRAMMARS.rglob("*.toml")):
        for key, value in _strings(tomllib.loads(path.read_text(encoding="utf-8")), ""):
            if _SIGNS.search(value) and _compiles(value):
                yield value, re.MULTILINE, f"grammars/{path.parent.name}/{path.name} {key}"
    for path in sorted(GRAMMARS.rglob("*.scm")):
        for match in _PREDICATE.finditer(path.read_text(encoding="utf-8")):
            yield ast.literal_eval(match[1]), 0, f"grammars/{path.parent.name}/{path.name}"


def _strings(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _strings(each, f"{key}.{name}".lstrip("."))
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each, key)


def _compiles(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def _calls(*, in_functions: bool = False) -> Iterator[tuple[Path, ast.Call]]:
    """Calls of functions of `re` and of `expression`."""
    for path in modules():
        text = path.read_text(encoding="utf-8")
        if not _OF_RE.search(text):  # reading the syntax of a module takes longer
            continue
        tree = ast.parse(text)
        bodies: list[ast.AST] = [tree]
        if in_functions:
            bodies = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        for node in (node for body in bodies for node in ast.walk(body)):
            if isinstance(node, ast.Call) and node.args:
                function = node.func
                is_of_re = (
                    isinstance(function, ast.Attribute)
                    and isinstance(function.value, ast.Name)
                    and function.value.id in ("re", "regex")
                    and function.attr in _FUNCTIONS
                )
                if is_of_re or (isinstance(function, ast.Name) and function.id == "expression"):
                    yield path, node


def _flags(call: ast.Call) -> int:
    """Those that are named in a call, wherever."""
    flags = 0
    for node in ast.walk(call):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("re", "regex"):
            value = getattr(re, node.attr, 0)
            flags |= int(value) if isinstance(value, re.RegexFlag) else 0
    return flags


# Expressions that are taken for exponential and are not, by a part of them, and why. Where a possessive part ends is
# not looked at.
JUSTIFIED = {
    "(?:of|the|de|la|van|von)": "five words at most, and the capitals that a word begins with are taken possessively",
    "(?:\\s|//[^\\n]*+|/\\*": "a comment is taken possessively to the end of its line",
}
_REPEATED = 2_000  # characters of a text that shows a fault
_MOST_SECONDS = 0.5  # of processor time; the square of 2,000 steps takes a tenth of that


_CHECKED = Path(__file__).with_name("checked_expressions.txt")


def digest_of(each: Expression) -> str:
    """What an expression is remembered by, together with the analyser that found nothing wrong with it."""
    analyser = Path(__file__).with_name("ambiguity.py").read_bytes()
    return hashlib.sha256(analyser + repr((each.pattern, int(each.flags))).encode()).hexdigest()[:12]


def unchecked(expressions: Iterable[Expression]) -> list[Expression]:
    """Those that the analyser, as it is, has not found harmless before."""
    known = frozenset(_CHECKED.read_text(encoding="utf-8").split())
    return [each for each in expressions if digest_of(each) not in known]


def complaints(expressions: Iterable[Expression]) -> list[str]:
    """The expressions that are exponential, or so much worse than linear that a text of 2,000 characters takes long."""
    found = []
    for each in expressions:
        for fault in faults_of(each.pattern, each.flags):
            said = f"{', '.join(each.places)}: {each.pattern!r}: {fault.kind}: {fault.lead!r}, then {fault.text!r}s"
            if fault.kind == "exponential" and not is_justified(each):
                found.append(said)
            elif seconds_of(each, fault) > _MOST_SECONDS:
                found.append(f"{said}: slow")
    return found


def is_justified(each: Expression) -> bool:
    return isinstance(each.pattern, str) and any(part in each.pattern for part in JUSTIFIED)


def seconds_of(each: Expression, fault: Fault) -> float:
    """Processor time of a match that fails at the end of a text which shows a fault; of a shorter text where that takes
    too long already."""
    compiled: re.Pattern[Any] = re.compile(each.pattern, each.flags)
    seconds = 0.0
    for part in (64, 16, 4, 2, 1):
        text = fault.lead + fault.text * (_REPEATED // part // len(fault.text)) + "\0"
        began = time.process_time()
        compiled.match(text.encode("latin-1", "replace") if isinstance(each.pattern, bytes) else text)
        seconds = time.process_time() - began
        if seconds > _MOST_SECONDS:
            break
    return seconds


def described(each: Expression) -> dict[str, object]:
    """An expression as plain data, for an analyser in another language."""
    flags = {
        name: bool(each.flags & re.RegexFlag[name.upper()]) for name in ("ignorecase", "multiline", "dotall", "verbose")
    }
    pattern = each.pattern.decode("latin-1") if isinstance(each.pattern, bytes) else each.pattern
    return {"pattern": pattern, "flags": flags, "places": each.places, "justified": is_justified(each)}


def slow_attacks(attacks: Iterable[Mapping[str, Any]]) -> list[str]:
    """The expressions that need more than _MOST_SECONDS for a text of at most _REPEATED characters that another
    analyser made against them."""
    found = []
    for each in attacks:
        flags = sum(re.RegexFlag[name.upper()] for name, is_set in each["flags"].items() if is_set)
        compiled, text = re.compile(each["pattern"], flags), each["attack"][:_REPEATED]
        began = time.process_time()
        compiled.match(text)
        seconds = time.process_time() - began
        if seconds > _MOST_SECONDS:
            found.append(f"{', '.join(each['places'])}: {each['pattern']!r}: {seconds:.1f} s for {text[:80]!r}")
    return found


def main() -> int:
    """Prints what is wrong with any expression; 1 if something is. With --json, prints all expressions; with --attacks,
    measures the texts that it reads; with --all, checks those that were checked before, too."""
    if "--attacks" in sys.argv[1:]:
        attacks = json.load(sys.stdin)
        slow = slow_attacks(attacks)
        print("\n".join([*slow, f"{len(attacks)} attacks, {len(slow)} that take long"]))
        return int(bool(slow))
    everything = all_expressions()
    if "--json" in sys.argv[1:]:
        print(json.dumps([described(each) for each in everything]))
        return 0
    is_whole = "--all" in sys.argv[1:]
    wrong = complaints(everything if is_whole else unchecked(everything))
    if "--write" in sys.argv[1:] and not wrong:
        digests = sorted({digest_of(each) for each in everything})
        rows = [" ".join(digests[i : i + 9]) for i in range(0, len(digests), 9)]
        _CHECKED.write_text("\n".join(rows) + "\n", encoding="utf-8")
    print("\n".join([*wrong, f"{len(everything)} expressions, {len(wrong)} that may take very long"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
