"""A synthetic monorepo: the same number gives the same files, to the byte.

Half of the files are Python, a quarter TypeScript, the rest Go and Java. Packages of about twenty files lie three
folders deep. A file has some functions and a class, imports files of its neighbourhood and a few that many import, and
calls what it imports; sizes follow a log-normal distribution with a median of about 70 lines. Names come from a small
vocabulary in which few words are frequent, so that names repeat as they do in code.
"""

import random
from bisect import bisect_right
from pathlib import Path, PurePosixPath
from typing import NamedTuple

_VERB_TEXT = "get set load save check build parse render send read write find make update remove open close merge sort"
_NOUN_TEXT = """
    user order price token session cart page image event report mail account rule filter table row index cache queue
    task worker plan route header body query result error policy label folder stream signal frame layer limit batch
    invoice payment address region store product review coupon shipment refund ledger quota
"""
_VERBS, _NOUNS = _VERB_TEXT.split(), _NOUN_TEXT.split()
_AREAS = ("platform", "commerce", "content", "identity", "delivery", "insight", "tools", "support")
_LANGUAGES = ("py", "ts", "go", "java")
_SHARES = (0.5, 0.75, 0.9, 1.0)
_PER_PACKAGE = 20
_NEAR, _MOST_IMPORTS = 60, 12
SEED = 20


class _File(NamedTuple):
    language: str
    folder: str
    name: str
    functions: tuple[str, ...]
    type_name: str


def write(folder: Path, n_files: int) -> int:
    """Writes the files into `folder`; returns how many bytes they have."""
    files = [_plan(i) for i in range(n_files)]
    of_language = {each: [i for i, file in enumerate(files) if file.language == each] for each in _LANGUAGES}
    (folder / "go.mod").write_text("module example.org/mono\n\ngo 1.22\n")
    (folder / "README.md").write_text("# A monorepo\n\nMade up: services that call each other.\n")
    size = 0
    made: set[str] = set()
    for i, file in enumerate(files):
        if file.folder not in made:
            (folder / file.folder).mkdir(parents=True, exist_ok=True)
            made.add(file.folder)
        text = _text(i, files, of_language[file.language])
        size += len(text)
        (folder / file.folder / f"{file.name}.{file.language}").write_text(text)
    return size


def _chance(i: int, what: str) -> random.Random:
    return random.Random(f"{SEED}:{what}:{i}")


def _word(chance: random.Random, words: list[str]) -> str:
    """Few words are frequent: a rank is drawn as in Zipf's law, nearly."""
    return words[int(len(words) ** chance.random()) - 1]


def _plan(i: int) -> _File:
    package = i // _PER_PACKAGE
    of_package, own = _chance(package, "package"), _chance(i, "file")
    language = _LANGUAGES[bisect_right(_SHARES, of_package.random() * 0.999)]
    area = _AREAS[package % len(_AREAS)]
    folder = f"{area}/{_word(of_package, _NOUNS)}{package // len(_AREAS) % 97}/{_word(of_package, _NOUNS)}{package}"
    noun = _word(own, _NOUNS)
    n_functions = max(2, min(40, round(own.lognormvariate(1.7, 0.7))))
    functions: dict[str, None] = {}
    while len(functions) < n_functions:
        functions[f"{_word(own, _VERBS)}_{_word(own, _NOUNS)}_{len(functions)}"] = None
    type_name = f"{noun.capitalize()}{own.choice(('Service', 'Store', 'Handler', 'Reader', 'Plan'))}{i % _PER_PACKAGE}"
    return _File(language, folder, f"{noun}_{i % _PER_PACKAGE}", tuple(functions), type_name)


def _imported(i: int, files: list[_File], same: list[int], chance: random.Random) -> list[int]:
    """Files that come before in the same language: mostly near ones, some that many import."""
    at = bisect_right(same, i) - 1
    if not at:
        return []
    found: dict[int, None] = {}
    for _ in range(chance.randrange(1, _MOST_IMPORTS)):
        near = chance.random() < 0.7
        place = at - 1 - chance.randrange(min(at, _NEAR)) if near else int(at * chance.random() ** 3)
        if files[same[place]].folder != files[i].folder or files[i].language in ("py", "ts"):
            found[same[place]] = None
    return list(found)


def _text(i: int, files: list[_File], same: list[int]) -> str:
    file, chance = files[i], _chance(i, "text")
    others = [files[j] for j in _imported(i, files, same, chance)]
    known = [(other, chance.choice(other.functions)) for other in others for _ in range(4)]
    return _WRITERS[file.language](file, others, known, chance)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _pascal(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _calls(known: list[tuple[_File, str]], chance: random.Random) -> list[tuple[_File, str]]:
    return [chance.choice(known) for _ in range(chance.randrange(2, 8))] if known else []


def _sentence(chance: random.Random) -> str:
    words = [_word(chance, _NOUNS) for _ in range(chance.randrange(3, 9))]
    return f"{_word(chance, _VERBS).capitalize()}s the {' '.join(words)}."


def _python(file: _File, others: list[_File], known: list[tuple[_File, str]], chance: random.Random) -> str:
    names: dict[_File, dict[str, None]] = {}
    for other, name in known:
        names.setdefault(other, {})[name] = None
    lines = [f'"""{_sentence(chance)}"""', ""]
    lines += [f"from {o.folder.replace('/', '.')}.{o.name} import {', '.join(names.get(o, {}))}" for o in others]
    for name in file.functions:
        lines += ["", "", f"def {name}(value, limit={chance.randrange(90)}):", f'    """{_sentence(chance)}"""']
        lines += [f"    {_word(chance, _NOUNS)} = {call}(value, limit)" for _, call in _calls(known, chance)]
        lines += [f"    if value > limit:  # {_sentence(chance)}", "        return None", "    return value"]
    lines += ["", "", f"class {file.type_name}:", f'    """{_sentence(chance)}"""', ""]
    for name in file.functions[: chance.randrange(1, 6)]:
        lines += [
            f"    def run_{name}(self, value):",
            f"        self.last = {name}(value)",
            "        return self.last",
            "",
        ]
    return "\n".join(lines) + "\n"


def _typescript(file: _File, others: list[_File], known: list[tuple[_File, str]], chance: random.Random) -> str:
    names: dict[_File, dict[str, None]] = {}
    for other, name in known:
        names.setdefault(other, {})[_camel(name)] = None
    up = "../" * len(PurePosixPath(file.folder).parts)
    lines = [f"import {{ {', '.join(names.get(o, {}))} }} from '{up}{o.folder}/{o.name}';" for o in others]
    for name in file.functions:
        lines += [
            "",
            f"/** {_sentence(chance)} */",
            f"export function {_camel(name)}(value: number, limit = 3): number {{",
        ]
        lines += [f"  value += {_camel(call)}(value, limit);" for _, call in _calls(known, chance)]
        lines += [f"  // {_sentence(chance)}", "  return value > limit ? limit : value;", "}"]
    lines += ["", f"export class {file.type_name} {{"]
    for name in file.functions[: chance.randrange(1, 6)]:
        lines += [f"  run{_pascal(name)}(value: number): number {{", f"    return {_camel(name)}(value);", "  }"]
    return "\n".join([*lines, "}"]) + "\n"


def _go(file: _File, others: list[_File], known: list[tuple[_File, str]], chance: random.Random) -> str:
    folders = dict.fromkeys(o.folder for o in others)
    lines = [
        f"package {PurePosixPath(file.folder).name}",
        "",
        "import (",
        *(f'\t"example.org/mono/{f}"' for f in folders),
        ")",
    ]
    own = file.name.replace("_", "").capitalize()
    for name in file.functions:
        lines += [
            "",
            f"// {_pascal(name)}{own} {_sentence(chance)}",
            f"func {_pascal(name)}{own}(value int, limit int) int {{",
        ]
        for other, call in _calls(known, chance):
            theirs = f"{PurePosixPath(other.folder).name}.{_pascal(call)}{other.name.replace('_', '').capitalize()}"
            lines.append(f"\tvalue += {theirs}(value, limit)")
        lines += ["\treturn value", "}"]
    lines += ["", f"type {file.type_name} struct {{", "\tlast int", "}"]
    for name in file.functions[: chance.randrange(1, 6)]:
        lines += ["", f"func (s *{file.type_name}) Run{_pascal(name)}(value int) int {{"]
        lines += [f"\ts.last = {_pascal(name)}{own}(value, 1)", "\treturn s.last", "}"]
    return "\n".join(lines) + "\n"


def _java(file: _File, others: list[_File], known: list[tuple[_File, str]], chance: random.Random) -> str:
    lines = [f"package mono.{file.folder.replace('/', '.')};", ""]
    lines += [f"import mono.{o.folder.replace('/', '.')}.{o.type_name};" for o in others if o.folder != file.folder]
    lines += ["", f"/** {_sentence(chance)} */", f"public class {file.type_name} {{", "    private int last;"]
    for name in file.functions:
        lines += [
            "",
            f"    /** {_sentence(chance)} */",
            f"    public static int {_camel(name)}(int value, int limit) {{",
        ]
        lines += [
            f"        value += {other.type_name}.{_camel(call)}(value, limit);" for other, call in _calls(known, chance)
        ]
        lines += ["        return value > limit ? limit : value;", "    }"]
    return "\n".join([*lines, "}"]) + "\n"


_WRITERS = {"py": _python, "ts": _typescript, "go": _go, "java": _java}
