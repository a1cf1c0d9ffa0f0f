"""Calls of PHP against the definitions that the language server intelephense names.

    npm install --prefix FOLDER intelephense
    python -m tests.benchmarks.edges.php_oracle CLONE [--server FOLDER] [--show N]

The server is asked for the definition at the name of each call: of functions, of methods with `->`, `?->` and `::`,
and of classes behind `new`. A call is a pair of definitions, found by their lines; a constructor counts as its class. A
name that has several definitions (a union of types) makes several pairs. Call sites are read with plain tree-sitter.

The server does not see: functions and methods that are named by a string or a variable, objects that are called, what
PHP itself calls (`__toString`), and types of packages that are not installed in the clone. An edge counts only if its
line holds a call that was asked for; one to a name that the server does not resolve there does not count. The type of
a receiver is the declared one: of an interface's method, implementations are no targets. In closures that are bound to
another object, and in traits, `$this` is the class or the trait around.
"""

import json
import queue
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import unquote, urlparse

import tree_sitter
import tree_sitter_php

from causalist.model.symbols import NodeKind
from tests.benchmarks.edges.called_pairs import Gold, Place, report

_SECONDS = 120  # the longest that the server may say nothing
_NAMES = ("name", "qualified_name", "relative_name", "relative_scope")
_NAMED_CALLS = ("member_call_expression", "nullsafe_member_call_expression", "scoped_call_expression")


class Site(NamedTuple):
    """The name of a call: 0-based row and character (in UTF-16) of its last part."""

    name: str
    row: int
    character: int


def call_sites(data: bytes) -> Iterator[Site]:
    """Yield the names of all calls that spell one."""
    root = tree_sitter.Parser(tree_sitter.Language(tree_sitter_php.language_php())).parse(data).root_node
    lines = data.split(b"\n")
    stack = [root]
    while stack:
        node = stack.pop()
        stack += node.children
        name: tree_sitter.Node | None = None
        if node.type in _NAMED_CALLS:
            name = node.child_by_field_name("name")
        elif node.type == "function_call_expression":
            name = node.child_by_field_name("function")
        elif node.type == "object_creation_expression":
            name = next((child for child in node.named_children if child.type in _NAMES), None)
        if name is None or name.type not in _NAMES or name.text is None:
            continue
        last = name.text.rpartition(b"\\")[2]
        row, column = name.end_point.row, name.end_point.column - len(last)
        before = lines[row][:column].decode("utf-8", "replace")
        yield Site(last.decode("utf-8", "replace"), row, len(before.encode("utf-16-le")) // 2)


class Server:
    """A language server behind a pipe; it ends with the `with` block, also if that fails."""

    def __init__(self, command: list[str], clone: Path) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=clone
        )
        self._said: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._n_asked = 0
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _read(self) -> None:
        """Pass on what the server says, None at its end."""
        pipe = self._process.stdout
        assert pipe is not None
        try:
            while True:
                length = 0
                while (line := pipe.readline().strip()) or not length:
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.partition(b":")[2])
                    elif not line and self._process.poll() is not None:
                        return
                self._said.put(json.loads(pipe.read(length)))
        except (OSError, ValueError):
            return
        finally:
            self._said.put(None)

    def tell(self, method: str, values: dict[str, Any]) -> None:
        """Send a notification."""
        self._send({"method": method, "params": values})

    def ask(self, method: str, values: dict[str, Any]) -> int:
        """Send a request, and return its number."""
        self._n_asked += 1
        self._send({"id": self._n_asked, "method": method, "params": values})
        return self._n_asked

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self._process.stdin.flush()

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yield what the server says; its own requests are answered with nothing."""
        while True:
            try:
                message = self._said.get(timeout=_SECONDS)
            except queue.Empty:
                raise TimeoutError(f"the server said nothing for {_SECONDS} seconds") from None
            if message is None:
                raise EOFError("the server ended")
            if "id" in message and "method" in message:
                items = message.get("params", {}).get("items") if isinstance(message.get("params"), dict) else None
                self._send({"id": message["id"], "result": [None] * len(items) if items else None})
            else:
                yield message

    def answers(self, numbers: Iterable[int]) -> dict[int, Any]:
        """Return the results of requests by their numbers."""
        left = set(numbers)
        found: dict[int, Any] = {}
        for message in self.messages() if left else ():
            if message.get("id") in left:
                found[message["id"]] = message.get("result")
                left.discard(message["id"])
            if not left:
                break
        return found


def read_gold(clone: Path, options: list[str]) -> Gold:
    """Return what the server says of all files of PHP in a clone; `options` name the folder of its installation."""
    folder = Path(options[-1] if options else ".").resolve()
    script = folder / "node_modules" / "intelephense" / "lib" / "intelephense.js"
    listed = subprocess.run(
        ["git", "ls-files"], cwd=clone, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    gold = Gold(set(), set(), defaultdict(set), defaultdict(set), set())
    with Server(["node", str(script), "--stdio"], clone) as server:
        started = server.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": clone.as_uri(),
                "workspaceFolders": [{"uri": clone.as_uri(), "name": clone.name}],
                "capabilities": {
                    "workspace": {"configuration": True, "workspaceFolders": True},
                    "textDocument": {"definition": {"linkSupport": True}},
                },
                "initializationOptions": {"clearCache": True},
            },
        )
        server.answers([started])
        server.tell("initialized", {})
        for message in server.messages():
            if message.get("method") == "indexingEnded":
                break
        for path in listed:
            if (clone / path).is_file():
                _ask_file(server, clone, path, gold)
    return gold


def _ask_file(server: Server, clone: Path, path: str, gold: Gold) -> None:
    """Add the calls of one file."""
    data = (clone / path).read_bytes()
    uri = (clone / path).as_uri()
    document = {"uri": uri, "languageId": "php", "version": 1, "text": data.decode("utf-8", "replace")}
    server.tell("textDocument/didOpen", {"textDocument": document})
    asked: dict[int, Site] = {}
    for site in sorted(call_sites(data), key=lambda each: (each.row, each.character)):
        at = {"line": site.row, "character": site.character + 1}
        asked[server.ask("textDocument/definition", {"textDocument": {"uri": uri}, "position": at})] = site
    answers = server.answers(asked)
    server.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    for number, site in asked.items():
        source = path, site.row + 1
        gold.sources.add(source)
        found = answers[number] or []
        if not found:
            gold.unknown[source].add(site.name)
            continue
        gold.lines[path].add(site.row + 1)
        for each in [found] if isinstance(found, dict) else found:
            place = _place(clone, each)
            if place is not None:
                gold.pairs.add((source, place))


def _place(clone: Path, found: dict[str, Any]) -> Place | None:
    """Return the place of a definition, None outside of the clone."""
    uri = found.get("targetUri") or found.get("uri") or ""
    span = found.get("targetSelectionRange") or found.get("range") or {"start": {"line": 0}}
    path = Path(unquote(urlparse(uri).path))
    return (path.relative_to(clone).as_posix(), span["start"]["line"] + 1) if path.is_relative_to(clone) else None


if __name__ == "__main__":
    sys.exit(report("php_oracle", read_gold, "--server", "not judged", frozenset({NodeKind.FILE})))
