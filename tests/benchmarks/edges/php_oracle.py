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

from causalist.model.node_ids import NodeKind
from tests.benchmarks.edges.called_pairs import Gold, Place, report

_SECONDS = 120  # the longest that the server may say nothing
_NAMES = ("name", "qualified_name", "relative_name", "relative_scope")
_FUNCTIONS = ("function_definition", "method_declaration")
_NAMED_CALLS = ("member_call_expression", "nullsafe_member_call_expression", "scoped_call_expression")


class Site(NamedTuple):
    """The name of a call: 0-based row and character (in UTF-16) of its last part, and a row of what is around alone.

    "" names a call of an object, which the server is not asked for.
    """

    name: str
    row: int
    character: int
    around: int
    is_new: bool


def call_sites(data: bytes) -> Iterator[Site]:
    """Yield all calls."""
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
        if name is None or name.text is None:
            continue
        around = _row_around(name)
        if name.type not in _NAMES:
            yield Site("", name.start_point.row, 0, around, False)
            continue
        last = name.text.rpartition(b"\\")[2]
        row, column = name.end_point.row, name.end_point.column - len(last)
        before = lines[row][:column].decode("utf-8", "replace")
        character = len(before.encode("utf-16-le")) // 2
        yield Site(last.decode("utf-8", "replace"), row, character, around, node.type == "object_creation_expression")


def _row_around(name: tree_sitter.Node) -> int:
    """Return the row of a name, or that of the function around if a class without a name starts in it."""
    row, node, at = name.start_point.row, name.parent, name.start_point.row
    while node is not None and node.type not in _FUNCTIONS:
        node = node.parent
    stack = [node] if node is not None else []
    while stack:
        each = stack.pop()
        if each.type == "anonymous_class" and each.start_point.row == row and each.start_byte > name.start_byte:
            start = node.child_by_field_name("name") if node is not None else None
            at = start.start_point.row if start is not None else row
        stack += [child for child in each.children if child.start_point.row <= row <= child.end_point.row]
    return at


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
    command = ["git", "ls-files", "*.php", "*.phtml"]
    listed = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=True).stdout.splitlines()
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
    for site in sorted(call_sites(data)):
        if not site.name:
            gold.unknown[path, site.around + 1].add("__invoke")
            continue
        at = {"line": site.row, "character": site.character + 1}
        asked[server.ask("textDocument/definition", {"textDocument": {"uri": uri}, "position": at})] = site
    answers = server.answers(asked)
    server.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    for number, site in asked.items():
        source = path, site.around + 1
        gold.sources.add(source)
        found = answers[number] or []
        if not found:
            gold.unknown[source].add(site.name)
            continue
        gold.lines[path].add(site.row + 1)
        places = [_place(clone, each) for each in ([found] if isinstance(found, dict) else found)]
        # Of what is made, the server names the class and its constructor, which may be that of a base.
        is_class = site.is_new and any(each is not None and each[1] != "__construct" for each in places)
        for each in places:
            if each is not None:
                is_constructor = is_class and each[1] == "__construct"
                (gold.aside if is_constructor else gold.pairs).add((source, each[0]))


def _place(clone: Path, found: dict[str, Any]) -> tuple[Place, str] | None:
    """Return the place and name of a definition, None outside of the clone."""
    span = found["targetSelectionRange"]
    path = Path(unquote(urlparse(found["targetUri"]).path))
    if not path.is_relative_to(clone):
        return None
    row = span["start"]["line"]
    line = path.read_text("utf-8", "replace").split("\n")[row].encode("utf-16-le")
    name = line[2 * span["start"]["character"] : 2 * span["end"]["character"]].decode("utf-16-le")
    return (path.relative_to(clone).as_posix(), row + 1), name


if __name__ == "__main__":
    aside = "constructors of classes that are made"
    sys.exit(report("php_oracle", read_gold, "--server", aside, frozenset({NodeKind.FILE})))
