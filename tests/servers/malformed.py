"""Input that no client should send. A case is a line, and the id of the one response that it must get, or NONE where
it gets none or one without an id."""

import json
from typing import Any, NamedTuple

NONE = object()


class Case(NamedTuple):
    line: bytes
    id: object


def cases() -> list[Case]:
    """All of them; ids are unique."""
    return [*_no_json(), *_no_messages(), *_odd_ids(), *_methods(), *_calls(), *_notifications()]


def _no_json() -> list[Case]:
    texts = [
        "{", "}", "[", "]", '"', "'", ",", ":", "nul", "tru", "NaN", "Infinity", "undefined", "//", "/* */ {}",
        "{'a': 1}",
        '{"jsonrpc": "2.0", "id": 1, "method": "ping"', '{"jsonrpc": "2.0", "id": 1, "method": "ping",}', "{} {}",
        '{"jsonrpc" "2.0"}', '{"a": 01}', '{"a": .5}', '{"a": "\t"}', '{"a": "\\x41"}', '{"a": "\\ud800"}', "<xml/>",
        "GET / HTTP/1.1", "Content-Length: 20", "\x1b[31mred", "\x00", "\x00" * 500, "\ufeff{}", "\u202e", "🎉" * 100,
        "[" * 200_000, '{"a":' * 100_000, "[" * 5000 + "]" * 5000, "x" * 100_000, "1" * 5000, "-" * 1000, " \t ",
    ]  # fmt: skip
    raw = [
        b"\xff",
        b"\xff\xfe{\x00}\x00",
        b'{"a": "\xc3\x28"}',
        b"\xed\xa0\x80",
        b"\x80" * 1000,
        b"\xf8\x88\x80\x80\x80",
    ]
    raw += ['{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"), bytes(range(1, 10)), b"x" * 5_000_000]
    return [Case(line, NONE) for line in [*(text.encode() for text in texts), *raw]]


def _no_messages() -> list[Case]:
    documents: list[object] = [
        None, True, 0, -1, 1.5, "ping", [], [[]], {}, {"jsonrpc": "2.0"}, {"method": "ping"}, {"jsonrpc": 2.0},
        {"jsonrpc": "1.0", "method": "ping"}, {"jsonrpc": None, "method": "ping"}, {"jsonrpc": "2.0", "method": None},
        {"jsonrpc": "2.0", "method": 1}, {"jsonrpc": "2.0", "method": []}, {"jsonrpc": "2.0", "method": {}},
        {"jsonrpc": "2.0", "params": {}}, {"jsonrpc": "2.0", "result": {}}, {"jsonrpc": "2.0", "error": {}},
        {"jsonrpc": "2.0", "id": "never asked", "result": {}}, {"jsonrpc": "2.0", "id": None, "result": {}},
        {"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "no"}},
        {"jsonrpc": "2.0", "id": 98, "error": "no"},
        [{"jsonrpc": "2.0", "id": 97, "method": "ping"}], [1, 2, 3],
    ]  # fmt: skip
    found = [Case(json.dumps(document).encode(), NONE) for document in documents]
    ping: dict[str, Any] = {"method": "ping"}
    nearly = [
        {"method": 5},
        {**ping, "params": []},
        {**ping, "params": "x"},
        {**ping, "params": 1},
        {**ping, "jsonrpc": "3"},
    ]
    for number, broken in enumerate(nearly):
        found.append(_case({"jsonrpc": "2.0", "id": f"broken-{number}", **broken}))
    return found


def _odd_ids() -> list[Case]:
    odd = ["true", "false", "null", "1.5", "-0.0", "1e400", "[]", "[1]", "{}", '{"a": 1}', "9" * 5000]
    found = [Case(f'{{"jsonrpc": "2.0", "id": {id}, "method": "ping"}}'.encode(), NONE) for id in odd]
    fitting: list[object] = ["", " ", "\u0000", "é" * 100, "x" * 10_000, 0, -1, 2**63, "\x1b[2J"]
    return [*found, *(_case({"jsonrpc": "2.0", "id": id, "method": "ping"}) for id in fitting)]


def _methods() -> list[Case]:
    unknown = [
        "", " ", "pong", "PING", "tools", "tools/", "tools/list/all", "tools/call ", "resources/list", "prompts/get",
        "logging/setLevel", "sampling/createMessage", "roots/list", "completion/complete", "rpc.discover", "__class__",
        "initialized", "shutdown", "exit", "../../etc/passwd", "a" * 10_000, "\u0000", "tools/call\u202e",
        "notifications/initialized", "notifications/cancelled", "notifications/progress", "$/cancelRequest",
    ]  # fmt: skip
    found = [_request(f"method-{i}", method, {}) for i, method in enumerate(unknown)]
    params: list[Any] = [
        {}, {"protocolVersion": 1}, {"protocolVersion": "2025-06-18"}, {"capabilities": []}, {"clientInfo": "me"},
        {"protocolVersion": "1066-10-14", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    ]  # fmt: skip
    found += [_request(f"again-{i}", "initialize", each) for i, each in enumerate(params)]
    cursors: list[Any] = [{"cursor": 1}, {"cursor": "nowhere"}, {"_meta": "x"}, {"_meta": {"progressToken": []}}]
    return found + [_request(f"list-{i}", "tools/list", each) for i, each in enumerate(cursors)]


def _calls() -> list[Case]:
    whole: list[Any] = [
        {}, {"name": None}, {"name": 1}, {"name": []}, {"name": ""}, {"name": "ask"}, {"name": "Ask", "arguments": {}},
        {"name": "rm -rf /", "arguments": {}}, {"name": "ask\u0000", "arguments": {}}, {"name": "__import__"},
        {"name": "ask", "arguments": None}, {"name": "ask", "arguments": []}, {"name": "ask", "arguments": "question"},
        {"name": "ask", "arguments": 7}, {"name": "ask", "arguments": {"q": "x"}}, {"arguments": {"question": "x"}},
        {"name": "ask", "arguments": {"question": "x", "__proto__": {}}}, {"name": "ask", "task": {"ttl": -1}},
        {"name": "symbol", "arguments": {"to": "total"}}, {"name": "impact", "arguments": {"depth": 1}},
        {"name": "ask", "arguments": {"question": _nested(150)}}, {"name": "ask", "arguments": _nested(150)},
        {"name": "ask", "arguments": {"question": "x"}, "_meta": {"progressToken": True}},
    ]  # fmt: skip
    found = [_request(f"call-{i}", "tools/call", each) for i, each in enumerate(whole)]
    numbers: list[object] = [0, -1, -(10**9), 1.5, 10**9, 10**300, True, "500", [], {}, "", "\u0000"]
    texts: list[object] = [
        "",
        " \n",
        0,
        -1,
        True,
        [],
        {},
        ["total"],
        "\u0000",
        "x" * 30_000,
        "é" * 900,
        "::",
        "../..",
        "#",
    ]
    for tool, required, argument, values in (
        ("ask", {"question": "total"}, "max_tokens", numbers),
        ("ask", {"question": "total"}, "top_k", numbers),
        ("impact", {"name": "Cart.total"}, "max_depth", numbers),
        ("impact", {"name": "Cart.total"}, "min_confidence", numbers),
        ("symbol", {"name": "Cart.total"}, "to", texts),
        ("ask", {}, "question", texts),
        ("symbol", {}, "name", texts),
        ("impact", {}, "name", texts),
    ):
        for i, value in enumerate(values):
            arguments = {**required, argument: value}
            found.append(_request(f"{tool}-{argument}-{i}", "tools/call", {"name": tool, "arguments": arguments}))
    arguments_of = '{"name":"ask","arguments":{"question":"x","top_k":%s}}'
    written = f'{{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":{arguments_of}}}'
    for i, number in enumerate(["1e400", "-1e400", "1e-400", "9" * 4000, "9.9e99"]):
        found.append(Case((written % (f"number-{i}", number)).encode(), f"number-{i}"))
    return found


def _notifications() -> list[Case]:
    """Requests without an id, and notifications about nothing."""
    documents: list[Any] = [
        {"method": "tools/call", "params": {"name": "ask", "arguments": {"question": "x"}}}, {"method": "tools/list"},
        {"method": "initialize", "params": {}}, {"method": "notifications/cancelled", "params": {"requestId": "never"}},
        {"method": "notifications/cancelled", "params": {"requestId": []}}, {"method": "notifications/cancelled"},
        {"method": "notifications/progress", "params": {"progressToken": 1, "progress": "much"}},
        {"method": "notifications/progress", "params": {}}, {"method": "notifications/unheard-of"},
        {"method": "notifications/initialized", "params": {"x": 1}},
        {"method": "notifications/initialized", "params": []},
        {"method": "ping"}, {"method": ""}, {"method": "exit"},
    ]  # fmt: skip
    return [Case(json.dumps({"jsonrpc": "2.0", **document}).encode(), NONE) for document in documents]


def _request(id: str, method: str, params: object) -> Case:
    return _case({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def _case(document: dict[str, object]) -> Case:
    return Case(json.dumps(document).encode(), document["id"])


def _nested(depth: int) -> object:
    value: object = "deep"
    for _ in range(depth):
        value = {"a": value}
    return value
