"""What an agent's client hands a hook, and what it wants back: bytes to a prompt, a context to bytes.

The clients document their formats: Claude Code, Codex and VS Code as `UserPromptSubmit`, Gemini CLI as `BeforeAgent`,
Cursor as `beforeSubmitPrompt`. They differ in where the folder stands and in what they read on standard output. An
input of none of these events is answered with plain text.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files as resource_files
from pathlib import Path

LONGEST_PROMPT = 20_000  # characters that are read; the rest is pasted text
# Claude Code and Cursor show an agent the beginning of what is longer.
MOST_CHARACTERS = 9_500
_CLAUDE_EVENTS = ("UserPromptSubmit", "BeforeAgent")
_CURSOR_EVENT = "beforeSubmitPrompt"
_FOLDER_VARIABLES = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")

_WORD = re.compile(r"[^\W\d_]{2,}")
# Code between backticks, a file or a dotted name, a path, an identifier of several parts, a call.
_CODE = re.compile(r"`[^`\n]+`|\w{2}\.[A-Za-z]\w*|\w/\w+[./]\w|\w_\w|[a-z][A-Z]|\w\(\)|[A-Za-z]\d|::|->|=>")
_COMMAND = re.compile(r"/[\w:-]+(?:\s|$)")
_FEWEST_WORDS = 2
# Words of a conversation: a prompt of nothing else goes on with what was said before, which a hook does not see.
_TALK_WORDS = "talk_words.txt"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the user typed, the folder in which the agent works (None where the client does not say), and the event
    by its client's name ("" for none that is known)."""

    text: str
    folder: Path | None
    event: str


def read_prompt(data: bytes, environment: Mapping[str, str] = os.environ) -> Prompt | None:
    """The prompt in a hook's standard input; None where there is none.

    >>> read_prompt(b'{"hook_event_name": "BeforeAgent", "prompt": "where is tax added", "cwd": "/shop"}', {})
    Prompt(text='where is tax added', folder=PosixPath('/shop'), event='BeforeAgent')
    >>> read_prompt(b'{"hook_event_name": "BeforeTool", "tool_name": "read_file"}', {}) is None
    True
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not isinstance(document.get("prompt"), str):
        return None
    event = document.get("hook_event_name", document.get("hookEventName"))
    roots = document.get("workspace_roots")
    stated = [document.get("cwd"), *(roots[:1] if isinstance(roots, list) else [])]
    stated += [environment.get(name) for name in _FOLDER_VARIABLES]
    folder = next((each for each in stated if isinstance(each, str) and each.strip() and "\0" not in each), None)
    # Half of a pair of surrogates, as JSON allows, is no text that anything else takes.
    text = document["prompt"][:LONGEST_PROMPT].encode("utf-8", "replace").decode("utf-8")
    known = isinstance(event, str) and event in (*_CLAUDE_EVENTS, _CURSOR_EVENT)
    return Prompt(text, Path(folder) if folder else None, str(event) if known else "")


def says_something(text: str) -> bool:
    """Whether a prompt names anything that could be looked for, by itself.

    >>> [says_something(each) for each in ("yes, go on", "/compact now", "now fix the tests please", "thanks!")]
    [False, False, False, False]
    >>> [says_something(each) for each in ("where is the tax rate applied", "fix parse_date", "why does cart.py fail")]
    [True, True, True]
    """
    stripped = text.strip()
    if _COMMAND.match(stripped):
        return False
    if _CODE.search(stripped):
        return True
    talk = resource_files("causalist.cli").joinpath(_TALK_WORDS).read_text(encoding="utf-8").split()
    words = {word.lower() for word in _WORD.findall(stripped)}.difference(talk)
    # Scripts without spaces between words have long ones.
    return len(words) >= _FEWEST_WORDS or any(not word.isascii() and len(word) >= 4 for word in words)


def written(context: str, event: str) -> bytes:
    """What to print so that the client of that event gives the context to its agent."""
    if event in _CLAUDE_EVENTS:
        document: object = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
    elif event == _CURSOR_EVENT:
        document = {"continue": True, "additional_context": context}
    else:
        return context.encode("utf-8", "backslashreplace")
    # ASCII: a console of another encoding changes nothing in it.
    return json.dumps(document).encode() + b"\n"
