r"""Names in files without a grammar that code shares: kinds of files by path, environment variables, templates, files.

In: the kind and the text of a file. Out: (offset, form, name) of each name that it sets, reads, includes or runs.
Any word that looks like a path counts as a file that is run or copied. Linking drops the words without such a file.
"""

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import LinkForm

_MAX_LINE_CHARACTERS = 2_000  # further in a line nothing is read

_KEY = r"[A-Z][A-Z0-9_]{2,80}"


class LinkName(NamedTuple):
    """A name at an offset of a text."""

    at: int
    form: LinkForm
    name: str


# -- environment variables

_ASSIGNED = lazy_regex(rf"^[ \t]*(?:#[ \t]*)?(?:export[ \t]+)?(?P<key>{_KEY})[ \t]*=", re.MULTILINE)
_DOCKER_SET = lazy_regex(r"^[ \t]*(?:ENV|ARG)[ \t]+(?P<rest>[^\n]*(?:\\\n[^\n]*){0,80})", re.MULTILINE | re.IGNORECASE)
_DOCKER_KEY = lazy_regex(rf"(?:^|\s)(?P<key>{_KEY})(?=[=\s]|$)")
_DOCKER_PAIR = lazy_regex(rf"(?:^|\s)(?P<key>{_KEY})=")
_YAML_KEY = lazy_regex(rf"(?P<indent>[ \t]*)(?:- )?[\"']?(?P<key>{_KEY})[\"']?[ \t]*(?P<mark>[:=])(?=[\s\"']|$|[^/\s])")
_YAML_NAME = lazy_regex(rf"[ \t]*(?:- )?name:[ \t]*[\"']?(?P<key>{_KEY})[\"']?[ \t]*$")
_YAML_BLOCK = lazy_regex(r"(?P<indent>[ \t]*)(?:- )?[\"']?(?P<key>[\w.-]+)[\"']?:(?:[ \t]*(?:&\w+|\||>-?|#[^\n]*)?)?$")
_ENV_BLOCKS = frozenset(
    {"environment", "env", "envs", "data", "stringdata", "variables", "build_args", "args", "envvars", "x-environment"}
)
_YAML_SCRIPT = lazy_regex(r":[ \t]*[|>][-+\d]*[ \t]*(?:#.*)?$")
_SHELL_SET = lazy_regex(
    rf"(?:^|[;&(])[ \t]*(?:- )?(?:export |local |read (?:-\w+ )*|for )?(?P<key>{_KEY})(?:=|[ ]in[ ])", re.MULTILINE
)
_PUT_IN = lazy_regex(rf"\$\{{(?P<key>{_KEY})(?=[}}:?-])|\$\{{\{{[ ]*(?:secrets|vars|env)\.(?P<github>{_KEY})[ ]*\}}\}}")


def _env_names(text: str) -> Iterator[LinkName]:
    for match in _ASSIGNED.finditer(text):
        yield LinkName(match.start("key"), LinkForm.SET_KEY, match["key"])


def _docker_names(text: str) -> Iterator[LinkName]:
    for match in _DOCKER_SET.finditer(text):
        pairs = list(_DOCKER_PAIR.finditer(match["rest"])) or list(_DOCKER_KEY.finditer(match["rest"]))[:1]
        for key in pairs:
            yield LinkName(match.start("rest") + key.start("key"), LinkForm.SET_KEY, key["key"])


def _yaml_names(text: str) -> Iterator[LinkName]:
    """Yield the variables that compose, Kubernetes and pipelines set, and those that are put in."""
    block = -1  # indentation of the block of variables that is open
    script = -1  # the same for a text of many lines, which may be a script
    given = {match["key"] for match in _SHELL_SET.finditer(text)}  # variables of such a script
    for at, line, indent in _yaml_lines(text):
        if _leaves_block(line, indent, block):
            block = -1
        if script >= 0 and indent <= script:
            script = -1
        opened = _YAML_BLOCK.fullmatch(line)
        if script < 0 and _YAML_SCRIPT.search(line):
            script = indent
        elif script >= 0:
            pass
        elif opened is not None and opened["key"].lower() in _ENV_BLOCKS:
            block = indent
        elif block >= 0:
            named = _YAML_NAME.fullmatch(line) or _YAML_KEY.match(line)
            if named is not None:
                yield LinkName(at + named.start("key"), LinkForm.SET_KEY, named["key"])
        if "${" in line:
            for match in _PUT_IN.finditer(line):
                group = "key" if match["key"] else "github"
                if match["key"] in given:
                    continue
                yield LinkName(at + match.start(group), LinkForm.READ_KEY, match[group])


def _yaml_lines(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield (start, text, indentation) of each line with more than a comment; long lines are cut."""
    start = 0
    for line in text.split("\n"):
        short = line[:_MAX_LINE_CHARACTERS]
        bare = short.lstrip()
        if bare and not bare.startswith("#"):
            yield start, short, len(short) - len(bare)
        start += len(line) + 1


def _leaves_block(line: str, indent: int, block: int) -> bool:
    """Return True if a line ends the block below a key with the indentation `block`; -1 is no block."""
    return indent < block or (indent == block >= 0 and not line.lstrip().startswith("-"))


# -- files that are run, copied, built or included

_FILE_WORD = lazy_regex(r"(?P<word>[\w./@+-]{2,200})")
_MODULE_RUN = lazy_regex(
    r"\b(?:python[\d.]*|pypy3?|uv run|poetry run)[ ]+(?:-\w+[ ]+){0,3}-m[ ]+(?P<name>[A-Za-z_][\w.]+)"
)
_SERVED = lazy_regex(
    r"\b(?:gunicorn|uvicorn|hypercorn|daphne|celery)\b[^\n]{0,200}?[ ](?:-A[ ]+)?(?P<name>[A-Za-z_]\w*"
    r"(?:\.\w+)*):\w+"
)
_DOCKER_RUN = lazy_regex(
    r"^[ \t]*(?P<word>COPY|ADD|ENTRYPOINT|CMD|RUN)\b(?P<rest>[^\n]*(?:\\\n[^\n]*){0,80})", re.MULTILINE | re.IGNORECASE
)
_YAML_RUNS = lazy_regex(
    r"^[ \t]*(?:- )?[\"']?(?P<key>run|script|before_script|after_script|command|entrypoint|args|cmds?|build"
    r"|context|dockerfile|file|env_file|path"
    r"|uses|working-directory|local|include|extends|volumes|source|configs?|template|scripts|steps|file_path"
    r"|\$ref)[\"']?:[ \t]*(?P<rest>[^\n]*)",
    re.MULTILINE,
)


def _words_of(text: str, offset: int) -> Iterator[LinkName]:
    for match in _FILE_WORD.finditer(text):
        word = match["word"].strip(".").rstrip("/") if match["word"] not in (".", "..") else ""
        if "." in word or "/" in word:
            yield LinkName(offset + match.start(), LinkForm.RUN, match["word"].rstrip("."))
    for pattern in (_MODULE_RUN, _SERVED):
        for match in pattern.finditer(text):
            yield LinkName(offset + match.start("name"), LinkForm.RUN, f"module:{match['name']}")


def _docker_runs(text: str) -> Iterator[LinkName]:
    for match in _DOCKER_RUN.finditer(text):
        rest, offset = match["rest"], match.start("rest")
        words = list(_words_of(rest, offset))
        if match["word"].upper() in ("COPY", "ADD"):
            if "--from" in rest:
                continue
            words = words[:-1] if len(words) > 1 or not rest.split()[-1:] or "/" not in rest.split()[-1] else words
        yield from words


def _yaml_runs(text: str) -> Iterator[LinkName]:
    """Yield words that may be paths behind keys that run or include something, and in the blocks below these keys."""
    block = -1
    for at, line, indent in _yaml_lines(text):
        if _leaves_block(line, indent, block):
            block = -1
        match = _YAML_RUNS.match(line)
        if match is not None:
            yield from _words_of(match["rest"], at + match.start("rest"))
            block = indent
        elif block >= 0:
            yield from _words_of(line, at)


# -- scripts and targets that programs run by their names

_TARGETS = lazy_regex(r"^@?(?P<names>[\w%./-][^:=\n]*)::?(?![:=])", re.MULTILINE)
_RECIPE_NAME = lazy_regex(r"[A-Za-z_][\w.-]*")
_IN_FOLDER = r"(?:[ ]+(?:-C|--prefix|--cwd|--dir|--directory)(?:[ ]+|=)(?P<in{}>[\w./@-]+))?"
_RUN_TARGET = lazy_regex(
    r"(?<![\w./-])(?:"
    rf"(?:npm|pnpm|yarn|bun){_IN_FOLDER.format('1')}[ ]+(?:(?:-s|--silent|--if-present)[ ]+)?"
    r"(?P<run>run(?:-script)?[ ]+)?"
    rf"(?P<npm>[A-Za-z][\w:.-]*){_IN_FOLDER.format('2')}"
    rf"|make{_IN_FOLDER.format('3')}(?P<make>(?:[ ]+[A-Za-z_][\w.-]*(?![\w=]))+)"
    r"|just[ ]+(?P<just>[A-Za-z_][\w-]*))"
)
_ENTERED = lazy_regex(r"\bcd[ ]+(?P<folder>[\w./-]+)")
_WORKSPACE = lazy_regex(
    r"(?:npm|pnpm|yarn|bun)[^\n&|;]{0,80}?[ ](?:-F|--filter|-w|--workspaces?|-r|--recursive|workspaces?)\b"
)
_WORKING_FOLDER = lazy_regex(r"^[ \t]*(?:- )?(?:working-directory|dir):[ \t]*[\"']?(?P<folder>[\w./-]+)", re.MULTILINE)
_STEP = lazy_regex(r"^[ \t]*- ", re.MULTILINE)
_NPM_LIFE = frozenset({"test", "start", "stop", "restart"})
_NPM_OWN = frozenset(
    {"install", "ci", "add", "remove", "exec", "dlx", "publish", "pack", "init", "link", "config", "cache"}
)


def _target_runs(text: str, kind: str = "") -> Iterator[LinkName]:
    """Yield the scripts and targets that commands run, each with the folder that its line or step enters before."""
    starts = [each.start() for each in _STEP.finditer(text)] if kind == "yaml" else []
    for match in _RUN_TARGET.finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        line = text[line_start : text.find("\n", match.end()) % (len(text) + 1)][:_MAX_LINE_CHARACTERS]
        if line.lstrip().startswith(("#", "//")) or _WORKSPACE.search(line):
            continue
        index = bisect_right(starts, match.start())
        first = starts[index - 1] if index else line_start
        entered = [each["folder"] for each in _ENTERED.finditer(text, first, match.start())]
        if index:
            working_folder = _WORKING_FOLDER.search(text, first, starts[index] if index < len(starts) else len(text))
            entered[:0] = [working_folder["folder"]] if working_folder is not None else []
        folder = posixpath.join("", *entered, match["in1"] or match["in2"] or match["in3"] or "")
        program = "npm" if match["npm"] else "make" if match["make"] else "just"
        for name in (match[program] or "").split():
            is_life = bool(match["run"]) or name in _NPM_LIFE or match[0].lstrip().startswith(("yarn", "pnpm", "bun"))
            if program != "npm" or (is_life and (match["run"] or name not in _NPM_OWN)):
                yield LinkName(match.start(program), LinkForm.RUN_TARGET, f"{program}:{name}\t{folder}")


def _make_targets(text: str) -> Iterator[LinkName]:
    for match in _TARGETS.finditer(text):
        for name in match["names"].split():
            if _RECIPE_NAME.fullmatch(name):
                yield LinkName(match.start("names"), LinkForm.HAVE_TARGET, f"make:{name}")


def _just_targets(text: str) -> Iterator[LinkName]:
    for match in _TARGETS.finditer(text):
        name = match["names"].split()[0]
        if _RECIPE_NAME.fullmatch(name):
            yield LinkName(match.start("names"), LinkForm.HAVE_TARGET, f"just:{name}")


def _npm_targets(text: str) -> Iterator[LinkName]:
    scripts = _NPM_SCRIPT.search(text)
    for line in re.finditer(r"\"(?P<name>[\w:.-]+)\"\s*:\s*\"", scripts["body"]) if scripts is not None else ():
        yield LinkName(scripts.start("body") + line.start("name"), LinkForm.HAVE_TARGET, f"npm:{line['name']}")  # type: ignore[union-attr]


def _make_runs(text: str) -> Iterator[LinkName]:
    at = 0
    for line in text.split("\n"):
        short = line[:_MAX_LINE_CHARACTERS]
        if short[:1] in ("\t", " ") or short.startswith(("include ", "-include ", "import ", "mod ")):
            yield from _words_of(short, at)
        elif short and not short.startswith("#"):
            _, colon, needs = short.partition(":")
            if colon and not needs.startswith("="):
                yield from _words_of(needs, at + len(short) - len(needs))
        at += len(line) + 1


_NPM_SCRIPT = lazy_regex(r"\"scripts\"\s*:\s*\{(?P<body>(?:[^{}\"]|\"(?:[^\"\\\n]|\\.)*+\"){0,20000}+)\}")


def _npm_runs(text: str) -> Iterator[LinkName]:
    match = _NPM_SCRIPT.search(text)
    if match is not None:
        for line in re.finditer(r":\s*\"(?P<command>(?:[^\"\\\n]|\\.)*)\"", match["body"]):
            yield from _words_of(line["command"], match.start("body") + line.start("command"))


# -- templates

_INCLUDED = lazy_regex(
    r"\{%[-+]?[ ]*(?:extends|include|import|from|embed|use|includeblock|render|ssi)[ ]*\(?[ ]*[\"']"
    r"(?P<jinja>[\w./@:-]+)[\"']"
    r"|<%[-=]*[ ]*(?:=[ ]*)?(?:render|include|layout)[ (]*(?:\(?[ ]*)?(?:(?P<option>partial|template|layout)[ ]*"
    r"(?::|=>)[ ]*|:partial[ ]*=>[ ]*)?[\"'](?P<erb>[\w./-]+)[\"']"
    r"|^[ \t]*(?:=|-)[ ]*render[ (]+(?:(?:partial|template|layout):[ ]*)?[\"'](?P<haml>[\w./-]+)[\"']"
    r"|\{\{-?[ ]*(?:template|block|partial)[ ]+[\"'`](?P<go>[\w./-]+)[\"'`]|\{\{[#~]?>[ ]*(?P<hbs>[\w./-]+)"
    r"|@(?:await[ ]+)?(?:Html\.(?:Render)?Partial(?:Async)?|Html\.EditorFor|Html\.DisplayFor)\([ ]*\""
    r"(?P<razor>[\w./~-]+)\""
    r"|<partial[ ]+name=\"(?P<tag>[\w./~-]+)\"|\bLayout[ ]*=[ ]*\"(?P<layout>[\w./~-]+)\""
    r"|<%@[ ]*include[ ]+file=\"(?P<jsp>[\w./-]+)\""
    r"|(?:th:(?:replace|insert|include)|data-th-replace)=\"~?\{?[ ]*(?P<thyme>[\w./-]+)",
    re.MULTILINE,
)
_SHOWN = lazy_regex(
    r"(?<![\w.$])(?:(?:i18n|I18n|this|\$)\.)?(?:\$?tc?|trans|__|\$strings|translate|@lang|lang|T)(?:\(\s*|\."
    r"|[ ]+(?=[\"'`]))[\"'`]?(?P<call>[A-Za-z][\w.:/-]{1,120})[\"'`)]"
    r"|\{\{-?[^{}\n]{0,80}?\b(?:t|T|Tr|i18n|plural|trN?)[ ]+[\"`](?P<go>[A-Za-z][\w.:/-]{1,120})[\"`]"
    r"|[\"'](?P<pipe>[A-Za-z][\w.:/-]{1,120})[\"'][ ]*\|[ ]*(?:translate|transloco|t)\b"
)
_DEFINED = lazy_regex(r"\{\{-?[ ]*(?:define|block)[ ]+[\"'`](?P<name>[\w./-]+)[\"'`]")
_INCLUDING = ("{%", "<%", "{{", "@", "<partial", "Layout", "render", "th:")


def _template_names(text: str) -> Iterator[LinkName]:
    for match in _DEFINED.finditer(text) if "{{" in text else ():
        yield LinkName(match.start("name"), LinkForm.RENDER, f"define:{match['name']}")
    for match in _SHOWN.finditer(text) if any(mark in text for mark in _INCLUDING) else ():
        yield LinkName(match.start(), LinkForm.SHOW_TEXT, match[str(match.lastgroup)])
    if any(mark in text for mark in _INCLUDING):
        for match in _INCLUDED.finditer(text):
            group = str(match.lastgroup)
            name = match[group]
            yield LinkName(
                match.start(group),
                LinkForm.RENDER,
                f"partial:{name}" if group in ("erb", "haml") else f"{group}:{name}",
            )


_READERS = {
    "env": (_env_names,),
    "docker": (_docker_names, _docker_runs, _target_runs),
    "yaml": (_yaml_names, _yaml_runs, lambda text: _target_runs(text, "yaml")),
    "make": (_make_runs, _target_runs, _make_targets),
    "just": (_make_runs, _target_runs, _just_targets),
    "npm": (_npm_runs, _target_runs, _npm_targets),
    "procfile": (lambda text: _words_of(text, 0), _target_runs),
    "template": (_template_names,),
    "properties": (
        lambda text: (
            LinkName(m.start("key"), LinkForm.READ_KEY, m["key"]) for m in _PUT_IN.finditer(text) if m["key"]
        ),
    ),
}


def find_names(kind: str, text: str) -> Iterator[LinkName]:
    r"""Yield the names in a text of a kind that `cleaned_text.link_kind` gives, in the order of each form.

    >>> [(each.form.name, each.name) for each in find_names("docker", "ENV APP_PORT=80\nCOPY run.sh /srv/\n")]
    [('SET_KEY', 'APP_PORT'), ('RUN', 'run.sh')]
    """
    for read in _READERS.get(kind, ()):
        yield from read(text)
