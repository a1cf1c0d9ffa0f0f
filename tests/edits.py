"""Random edits of a repository, whatever language it is in: what people do to files between two questions."""

import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

_AIMS = ("faster", "safer for retries", "log what failed", "work without a token")

Edit = Callable[[Path, random.Random], str]

_CODE = (".py", ".ts", ".go", ".js", ".java", ".rs")
_TEMPLATES = {
    ".py": "\n\ndef retry_delivery_{n}(user):\n    return {call}(user)\n",
    ".go": "\n\nfunc retryDelivery{n}(user string) {{ {call}(user) }}\n",
    ".rs": "\n\nfn retry_delivery_{n}(user: &str) {{ {call}(user) }}\n",
    ".java": "\n\nclass RetryDelivery{n} {{ void run(String user) {{ {call}(user); }} }}\n",
}
_ANY_TEMPLATE = "\n\nexport function retryDelivery{n}(user) {{ return {call}(user); }}\n"
_CALL = re.compile(r"\b([A-Za-z_]\w{3,})\(")
_WORD = re.compile(r"\b([A-Za-z_]\w{3,})\b")
_CLASS = re.compile(r"\bclass (\w+)")
_HEADER = re.compile(r"^.*\) ?[^;=]*\{$", re.MULTILINE)
_HELD = re.compile(r"\bheld = (?:new )?\w+\(\);?")
_PY_HELD = (
    "self.made = held",
    "return held",
    "kept = held.{0}\nreturn kept",
    "def inner():\n    return held\nreturn inner",
)
_BRACE_HELD = ("this.made = held;", "return held;", "const kept = held.{0};\nreturn kept;", "return () => held;")
_PY_HEADER = re.compile(r"^ *(?:async )?def .*:$", re.MULTILINE)
_PY_RETURN = re.compile(r"\)(?: -> [^:]*)?:$", re.MULTILINE)
_TS_RETURN = re.compile(r"\)(?:: [\w<>]+)? \{$", re.MULTILINE)
_PY_CLASS = re.compile(r"^( *class \w+)(?:\(.*\))?:$", re.MULTILINE)
_BRACE_CLASS = re.compile(r"^(.*\bclass \w+)(?: extends \w+)? \{$", re.MULTILINE)
_VALUES = {
    ".py": "\n{name} = {called}()\n",
    ".go": "\nvar {name} = {called}()\n",
    ".rs": "\nstatic {name}: u8 = {called}();\n",
    ".java": "\nclass Held{name} {{ Object {name} = {called}(); }}\n",
}
_IMPORT = re.compile(r"^\s*(?:import|from|use)\b.*$|^\s*\"[\w./-]+\"$", re.MULTILINE)


def code_files(root: Path) -> list[Path]:
    return sorted(p for p in root.rglob("*") if p.suffix in _CODE and p.is_file() and ".causalist" not in p.parts)


def _any(root: Path, chance: random.Random) -> Path:
    files = code_files(root)
    if not files:  # everything was deleted
        if (root / "again.py").is_dir():
            shutil.rmtree(root / "again.py")
        (root / "again.py").write_text("def again():\n    pass\n")
        files = [root / "again.py"]
    return chance.choice(files)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def add_function(root: Path, chance: random.Random) -> str:
    path = _any(root, chance)
    called = chance.choice(_CALL.findall(_text(_any(root, chance))) or ["nothing"])
    template = _TEMPLATES.get(path.suffix, _ANY_TEMPLATE)
    with path.open("a", encoding="utf-8") as file:
        file.write(template.format(n=chance.randrange(1000), call=called))
    return f"add a function to {path.name}"


def remove_lines(root: Path, chance: random.Random) -> str:
    path = _any(root, chance)
    lines = _text(path).splitlines(keepends=True)
    start = chance.randrange(len(lines) + 1)
    path.write_text("".join(lines[:start] + lines[start + chance.randrange(1, 9) :]), encoding="utf-8")
    return f"remove lines of {path.name}"


def move_block(root: Path, chance: random.Random) -> str:
    """A definition goes to another file."""
    one, other = _any(root, chance), _any(root, chance)
    blocks = _text(one).split("\n\n")
    block = blocks.pop(chance.randrange(len(blocks)))
    one.write_text("\n\n".join(blocks), encoding="utf-8")
    with other.open("a", encoding="utf-8") as file:
        file.write(f"\n\n{block}\n")
    return f"move a block of {one.name} to {other.name}"


def change_import(root: Path, chance: random.Random) -> str:
    one, other = _any(root, chance), _any(root, chance)
    mine, theirs = list(_IMPORT.finditer(_text(one))), _IMPORT.findall(_text(other))
    if not mine or not theirs:
        return "no import to change"
    gone = chance.choice(mine)
    text = _text(one)
    one.write_text(text[: gone.start()] + chance.choice(theirs) + text[gone.end() :], encoding="utf-8")
    return f"change an import of {one.name}"


def delete(root: Path, chance: random.Random) -> str:
    path = _any(root, chance)
    path.unlink()
    return f"delete {path.name}"


def rename(root: Path, chance: random.Random) -> str:
    path = _any(root, chance)
    path.rename(path.with_name(f"moved_{chance.randrange(1000)}_{path.name}"))
    return f"rename {path.name}"


def change_case(root: Path, chance: random.Random) -> str:
    path = _any(root, chance)
    target = path.with_name(path.stem.swapcase() + path.suffix)
    if target.exists():
        return "no case to change"
    path.rename(target)
    return f"change the case of {path.name}"


def swap(root: Path, chance: random.Random) -> str:
    one, other = _any(root, chance), _any(root, chance)
    texts = one.read_bytes(), other.read_bytes()
    other.write_bytes(texts[0])
    one.write_bytes(texts[1])
    return f"swap {one.name} and {other.name}"


def copy(root: Path, chance: random.Random) -> str:
    path = _any(root, chance)
    path.with_name(f"copy_{chance.randrange(1000)}{path.suffix}").write_bytes(path.read_bytes())
    return f"copy {path.name}"


def break_off(root: Path, chance: random.Random) -> str:
    path = _any(root, chance)
    path.write_text(_text(path)[: chance.randrange(400)] + "}}}((( 'unfinished", encoding="utf-8")
    return f"break {path.name}"


def spoil(root: Path, chance: random.Random) -> str:
    """What was text is binary, or the other way round."""
    path = root / f"spoilt{chance.randrange(2)}"
    if chance.random() < 0.5:
        path = _any(root, chance)
    data = path.read_bytes() if path.exists() else b"a list of words"
    path.write_bytes(data.replace(b"\0", b"") if b"\0" in data else b"\0" + data)
    return f"spoil {path.name}"


def touch(root: Path, chance: random.Random) -> str:
    path = _any(root, chance)
    os.utime(path, ns=(10**18, 10**18 + chance.randrange(10**9)))
    return f"touch {path.name}"


def file_to_folder(root: Path, chance: random.Random) -> str:
    path = _any(root, chance)
    data = path.read_bytes()
    path.unlink()
    path.mkdir()
    (path / f"inner{path.suffix}").write_bytes(data)
    return f"make a folder of {path.name}"


def folder_to_file(root: Path, chance: random.Random) -> str:
    folder = _any(root, chance).parent
    if folder == root:
        return "no folder to replace"
    shutil.rmtree(folder)
    folder.write_text("What was here is gone.\n", encoding="utf-8")
    return f"make a file of {folder.name}"


def prose(root: Path, chance: random.Random) -> str:
    (root / "docs").mkdir(exist_ok=True) if not (root / "docs").is_file() else None
    if (root / "docs").is_dir():
        (root / "docs" / "hooks.md").write_text(f"# Hooks {chance.randrange(9)}\n\nA `verifyToken` call.\n")
    return "rewrite the documentation"


def ignore(root: Path, chance: random.Random) -> str:
    (root / ".causalistignore").write_text(f"{_any(root, chance).name}\n")
    return "ignore a file"


def ignore_in_git(root: Path, chance: random.Random) -> str:
    """A file or a kind of file that git is told to leave out, or no longer; what is committed stays in."""
    path = _any(root, chance)
    line = chance.choice((path.name, f"*{path.suffix}", f"/{path.relative_to(root).as_posix()}", f"!{path.name}", ""))
    target = path.parent / ".gitignore" if chance.random() < 0.5 else root / ".gitignore"
    if target.is_dir():
        return "nothing to ignore"
    if chance.random() < 0.5:
        target.unlink(missing_ok=True)
    with target.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    return f"ignore {line!r}"


def attribute(root: Path, chance: random.Random) -> str:
    """What git's attributes say of a file or a kind of file: generated, vendored, or source after all."""
    path = _any(root, chance)
    pattern = chance.choice((path.name, f"*{path.suffix}", path.relative_to(root).as_posix()))
    said = chance.choice(("linguist-generated", "linguist-vendored", "-linguist-generated", "linguist-generated=false"))
    target = path.parent / ".gitattributes" if chance.random() < 0.5 else root / ".gitattributes"
    if target.is_dir():
        return "nothing to say"
    if chance.random() < 0.4:
        target.unlink(missing_ok=True)
        return "say nothing by attributes"
    with target.open("a", encoding="utf-8") as file:
        file.write(f"{pattern} {said}\n")
    return f"say {pattern} {said}"


def commit(root: Path, chance: random.Random) -> str:
    message = f"Make {_any(root, chance).stem} {chance.choice(_AIMS)}"
    git(root, "add", "-A", ".")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return "commit"


def switch_branch(root: Path, chance: random.Random) -> str:
    """The work so far is kept on a branch, and the tree goes back to some commit before."""
    commit(root, chance)
    known = git(root, "rev-list", "--all").split()
    git(root, "checkout", "-q", "-f", "-B", f"b{chance.randrange(3)}", chance.choice(sorted(known)))
    return "switch branches"


def rebase(root: Path, chance: random.Random) -> str:
    """The last commits are made again on another one; where they do not fit, theirs wins, or it is given up."""
    commit(root, chance)
    known = git(root, "rev-list", "--all").split()
    onto, n = chance.choice(sorted(known)), chance.randrange(1, 3)
    branch = f"r{chance.randrange(3)}"
    git(root, "checkout", "-q", "-f", "-B", branch)
    behind = git(root, "rev-list", "--count", "HEAD").strip()
    if int(behind) <= n:
        return "nothing to rebase"
    try:
        git(root, "rebase", "-q", "-X", "theirs", "--onto", onto, f"HEAD~{n}", branch)
    except subprocess.CalledProcessError:
        subprocess.run(["git", "rebase", "--abort"], cwd=root, capture_output=True)  # unless it was not begun
        return "give up a rebase"
    return "rebase"


def _name(root: Path, chance: random.Random, pattern: re.Pattern[str]) -> str:
    return chance.choice(pattern.findall(_text(_any(root, chance))) or ["nothing"])


def _insert(path: Path, chance: random.Random, after: re.Pattern[str], text: str) -> bool:
    """Puts lines behind one that matches, a little further in; False if none does."""
    whole = _text(path)
    places = list(after.finditer(whole))
    if not places:
        return False
    place = chance.choice(places)
    margin = " " * (len(place[0]) - len(place[0].lstrip()) + 4)
    inside = "".join(f"\n{margin}{line}" for line in text.split("\n"))
    path.write_text(whole[: place.end()] + inside + whole[place.end() :], encoding="utf-8")
    return True


def edit_body(root: Path, chance: random.Random) -> str:
    """A line in a function: what no other file sees, but for what is returned."""
    lines = ("{0}(1)", "x = {0}(2)", "y.{0}()", "{0}(x, y.z)", "return {0}(3)", "{0}().made.{1}()", "{0}().{1}()")
    return _add_line(root, chance, lines)


def add_call(root: Path, chance: random.Random) -> str:
    """A call in a function, which no other file sees."""
    return _add_line(root, chance, ("{0}(1)", "y.{0}()"))


def _add_line(root: Path, chance: random.Random, lines: Sequence[str]) -> str:
    path, called = _any(root, chance), _name(root, chance, _CALL)
    end = "" if path.suffix == ".py" else ";"
    line = chance.choice(lines).format(called, _name(root, chance, _CALL))
    done = _insert(path, chance, _HEADER if path.suffix != ".py" else _PY_HEADER, line + end)
    return f"edit the body of a function of {path.name}" if done else "no function to edit"


def move_down(root: Path, chance: random.Random) -> str:
    """An empty line somewhere: nothing but places changes, unless it is in a text."""
    path = _any(root, chance)
    lines = _text(path).splitlines(keepends=True)
    lines.insert(chance.randrange(len(lines) + 1), "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return f"add an empty line to {path.name}"


def set_member(root: Path, chance: random.Random) -> str:
    path, called = _any(root, chance), _name(root, chance, _CALL)
    is_python = path.suffix == ".py"
    line = f"self.made = {called}()" if is_python else f"this.made = {called}();"
    done = _insert(path, chance, _PY_HEADER if is_python else _HEADER, line)
    return f"set a member in {path.name}" if done else "no method to edit"


def hand_on(root: Path, chance: random.Random) -> str:
    """A variable of a function that others see by what is made of it, or another value for one that is there."""
    path, made = _any(root, chance), _name(root, chance, _CLASS)
    is_python = path.suffix == ".py"
    value = f"held = {made}()" if is_python else f"held = new {made}();"
    if chance.random() < 0.5 and _replace_one(path, chance, _HELD, value):
        return f"give a variable in {path.name} another value"
    ways = _PY_HELD if is_python else _BRACE_HELD
    text = f"{value if is_python else 'const ' + value}\n{chance.choice(ways).format(_name(root, chance, _CALL))}"
    done = _insert(path, chance, _PY_HEADER if is_python else _HEADER, text)
    return f"hand on a variable in {path.name}" if done else "no function to edit"


def _replace_one(path: Path, chance: random.Random, pattern: re.Pattern[str], by: str) -> bool:
    whole = _text(path)
    places = list(pattern.finditer(whole))
    if not places:
        return False
    place = chance.choice(places)
    path.write_text(whole[: place.start()] + place.expand(by) + whole[place.end() :], encoding="utf-8")
    return True


def change_return(root: Path, chance: random.Random) -> str:
    path, name = _any(root, chance), _name(root, chance, _CLASS)
    pattern, by = (_PY_RETURN, rf") -> {name}:") if path.suffix == ".py" else (_TS_RETURN, rf"): {name} {{")
    return f"change what is returned in {path.name}" if _replace_one(path, chance, pattern, by) else "no return"


def change_base(root: Path, chance: random.Random) -> str:
    path, name = _any(root, chance), _name(root, chance, _CLASS)
    pattern, by = (_PY_CLASS, rf"\1({name}):") if path.suffix == ".py" else (_BRACE_CLASS, rf"\1 extends {name} {{")
    return f"change a base in {path.name}" if _replace_one(path, chance, pattern, by) else "no class"


def add_value(root: Path, chance: random.Random) -> str:
    """A value at the top of a file, under a name that others may use."""
    path, called = _any(root, chance), _name(root, chance, _CALL)
    name = _name(root, chance, _CALL)
    value = _VALUES.get(path.suffix, "\nexport const {name} = {called}();\n").format(name=name, called=called)
    path.write_text(_text(path) + value, encoding="utf-8")
    return f"add a value to {path.name}"


def use_package(root: Path, chance: random.Random) -> str:
    """A package from outside that nobody else uses."""
    path, name = _any(root, chance), f"outside{chance.randrange(4)}"
    if path.suffix == ".py":
        path.write_text(f"import {name}\n{_text(path)}\n{name}.run()\n", encoding="utf-8")
    elif path.suffix in (".ts", ".js"):
        path.write_text(f'import {name} from "{name}";\n{_text(path)}\n{name}.run();\n', encoding="utf-8")
    else:
        return edit_body(root, chance)
    return f"use a package in {path.name}"


def import_for_side_effects(root: Path, chance: random.Random) -> str:
    """Another file, of which no name is used."""
    path, other = _any(root, chance), _any(root, chance)
    if path.suffix not in (".ts", ".js"):
        return edit_body(root, chance)
    path.write_text(f'import "./{other.stem}";\n{_text(path)}', encoding="utf-8")
    return f"import {other.name} for its side effects in {path.name}"


def remove_import(root: Path, chance: random.Random) -> str:
    path = _any(root, chance)
    return f"remove an import of {path.name}" if _replace_one(path, chance, _IMPORT, "") else "no import to remove"


def new_module(root: Path, chance: random.Random) -> str:
    """A file beside others, named by a word that some file has, with what others may call, mention or make."""
    beside, used = _any(root, chance), _name(root, chance, _CALL)
    path = beside.with_name(_name(root, chance, _WORD) + beside.suffix)
    if path.exists():
        return "no new file"
    lines = "export function {0}(user) {{ return user.{1}(); }}\nexport class {2} {{ {1}() {{ return {0}(this); }} }}\n"
    if beside.suffix == ".py":
        lines = "def {0}(user):\n    return user.{1}()\n\n\nclass {2}:\n    def {1}(self):\n        return {0}(self)\n"
    made = f"Made{chance.randrange(9)}" if chance.random() < 0.5 else _name(root, chance, _CLASS)
    path.write_text(lines.format(used, _name(root, chance, _CALL), made), encoding="utf-8")
    return f"make {path.name}"


def missing_module(root: Path, chance: random.Random) -> str:
    """A file takes the name of another one, which others import."""
    one, other = _any(root, chance), _any(root, chance)
    target = one.with_name(other.name if chance.random() < 0.5 else other.stem + one.suffix)
    if target.exists() or "." in other.stem:
        return "no file to move"
    one.rename(target)
    return f"rename {one.name} to {target.name}"


def use_module(root: Path, chance: random.Random) -> str:
    """An import of a neighbour, which may not be there yet, or of all that it has."""
    path, word = _any(root, chance), _name(root, chance, _WORD)
    name = chance.choice((word, chance.choice(code_files(root)).stem)).removesuffix(".d")
    if path.suffix == ".py":
        ways = (f"from {name} import *", f"from .{name} import {word}", f"import {name}", f"from . import {name}")
        line = chance.choice(ways)
    elif path.suffix in (".ts", ".js"):
        ways = (f'export * from "./{name}";', f'import {{ {word} }} from "./{name}";', f'import it from "./{name}";')
        line = chance.choice(ways)
    else:
        return edit_body(root, chance)
    path.write_text(f"{line}\n{_text(path)}", encoding="utf-8")
    return f"add {line!r} to {path.name}"


def new_page(root: Path, chance: random.Random) -> str:
    """Documentation that comes or goes, and what it mentions."""
    path = root / f"page{chance.randrange(3)}.md"
    if path.exists():
        path.unlink()
        return f"delete {path.name}"
    one = chance.choice(code_files(root) or [path])
    text = f"# Page\n\n`{_name(root, chance, _CALL)}()` in `{one.relative_to(root).as_posix()}`, [it]({one.name}).\n"
    path.write_text(text, encoding="utf-8")
    return f"make {path.name}"


EDITS: Sequence[Edit] = (
    add_function, add_function, remove_lines, move_block, change_import, delete, rename, change_case, swap, copy,
    break_off, touch, spoil, file_to_folder, folder_to_file, prose, ignore, ignore_in_git, attribute, commit,
    switch_branch, rebase,
)  # fmt: skip
# Those that leave the set of files as it is, and often what others see of a file too.
SMALL_EDITS: Sequence[Edit] = (
    edit_body, edit_body, edit_body, edit_body, set_member, hand_on, hand_on, hand_on, change_return, change_base,
    add_value, use_package, import_for_side_effects, remove_import, add_function, remove_lines, prose, touch, commit,
)  # fmt: skip
# Those after which a file mostly looks from outside as it did.
BODY_EDITS: Sequence[Edit] = (add_call, add_call, add_call, edit_body, move_down, move_down, prose, touch)
# Those after which there are other files, and what these rest on.
MOVES: Sequence[Edit] = (
    delete, rename, change_case, copy, new_module, new_module, missing_module, use_module, use_module, new_page,
    add_function, edit_body, spoil, ignore, ignore_in_git, attribute, commit,
)  # fmt: skip


def git(root: Path, *arguments: str) -> str:
    user = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *user, *arguments], cwd=root, capture_output=True, check=True, text=True).stdout


def bring_back(root: Path, commit: str) -> None:
    """The files of a commit and no others; the index stays."""
    git(root, "clean", "-q", "-f", "-d", "-x", "-e", ".causalist")
    git(root, "checkout", "-q", "-f", "--detach", commit)


def begin(root: Path) -> None:
    """Makes a repository of a folder, with times that are long past."""
    git(root, "init", "-q")
    commit(root, random.Random(0))
    for path in root.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, ns=(10**18, 10**18))
