"""A server on loopback that speaks OpenAI's protocol and answers what a test tells it to, and malformed answers."""

import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PASSAGE = "Alice Moreau leads the Identity Team. The Identity Team looks after the Token Service in Lyon."
ENTITIES = [
    {"name": "Alice Moreau", "type": "person"},
    {"name": "Identity Team", "type": "org"},
    {"name": "Token Service", "type": "artifact"},
    {"name": "Lyon", "type": "location"},
]
TRIPLES = [
    {"subject": "Alice Moreau", "predicate": "leads", "object": "Identity Team", "confidence": 0.95},
    {"subject": "Identity Team", "predicate": "looks after", "object": "Token Service", "confidence": 0.9},
]
TRUE = {("alice_moreau", "leads", "identity_team"), ("identity_team", "looks after", "token_service")}


Raw = Callable[[BaseHTTPRequestHandler], None]


def streamed(pieces: list[Any], *, reason: str | None = "stop", done: bool = True) -> Raw:
    """A stream of these pieces of text; without a `reason` and `done` it just ends, as where a connection is lost."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        begin_stream(handler)
        ends = [] if reason is None else [({}, reason)]
        for delta, finish in [*(({"content": piece}, None) for piece in pieces), *ends]:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            document = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "fake",
                        "choices": [choice]}  # fmt: skip
            handler.wfile.write(f"data: {json.dumps(document)}\n\n".encode())
            handler.wfile.flush()
        if done:
            handler.wfile.write(b"data: [DONE]\n\n")

    return send


def begin_stream(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()


@contextmanager
def serving(answer: Callable[[str], str | int | Raw]) -> Iterator[str]:
    """The server's address; `answer` gets a prompt and gives a text, a status to fail with, or what writes to the
    client by itself. A text is streamed in pieces of a few characters to who asks for a stream."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = answer(given["messages"][-1]["content"])
            if isinstance(said, int):
                self.send_response(said)
                self.end_headers()
                return
            if isinstance(said, str) and given.get("stream"):
                said = streamed([said[i : i + 7] for i in range(0, len(said), 7)])
            if not isinstance(said, str):
                with suppress(ConnectionError):
                    said(self)
                return
            message = {"role": "assistant", "content": said}
            document = {"id": "1", "object": "chat.completion", "created": 0, "model": given["model"],
                        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}  # fmt: skip
            data = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def openai_model(address: str) -> Any:
    """A chat model of the `llm` library that asks this server."""
    from llm.default_plugins.openai_models import Chat

    return Chat("fake", key="none", model_name="fake", api_base=address)


def is_about_triples(prompt: str) -> bool:
    return '"predicate"' in prompt


def malformed(rng: random.Random, kind: int, *, triples: bool) -> str:
    """A malformed answer; what is right in it, if anything, is a part of ENTITIES or TRIPLES."""
    whole: list[Any] = list(TRIPLES if triples else ENTITIES)
    text = json.dumps(whole)
    wrong: Any = {"name": "Mallory", "type": "person"}
    if triples:
        wrong = {"subject": "Mallory", "predicate": "owns", "object": "Token Service", "confidence": 1.0}
    flipped = {"subject": "Token Service", "predicate": "leads", "object": "Alice Moreau"}
    make: list[Callable[[], str]] = [
        lambda: text[: rng.randrange(1, len(text) - 1)],  # truncated
        lambda: "",
        lambda: rng.choice(["I cannot help with that.", "Sure! Here they are:", "null", "42", "true", '"text"']),
        lambda: json.dumps([rng.choice([1, None, "Alice Moreau", ["Alice Moreau"], True]) for _ in range(5)]),
        lambda: json.dumps([{key: rng.choice([1, None, [], {}, True]) for key in each} for each in whole]),
        lambda: json.dumps({"result": {"entities": whole}}),
        lambda: json.dumps([*whole, wrong]),  # names what the passage does not
        lambda: json.dumps([{**each, "confidence": rng.choice([-1, 0, 1.5, 10**400, "0.9", True, None])}
                            for each in ([*TRIPLES, flipped] if triples else [wrong])]),
        lambda: text.replace("0.9", "NaN").replace("person", "Infinity") + rng.choice(["]", "}", ""]),
        lambda: text.replace('"', "'"),
        lambda: "[" * rng.randrange(2_000, 60_000),  # deep
        lambda: json.dumps([wrong] * 3_000),  # huge
        lambda: json.dumps([{**wrong, "predicate": "x" * 100_000, "name": "y" * 100_000}]),
        lambda: "ignore the passage </text> ```" + json.dumps([wrong]) + "``` " + json.dumps(whole),
        lambda: json.dumps(wrong),
        lambda: f"{text}\n\nOr rather:\n{json.dumps([wrong])}",
        lambda: text[:-1] + ", {" + json.dumps(wrong)[1:-2],
        lambda: "\x00\ufffe" + text[1:],
        lambda: json.dumps([{**each, **({"object": each["subject"]} if triples else {"name": ""})} for each in whole]),
        lambda: "[" + ",".join("{" + '"name": ' * 3 + "}" for _ in range(4)) + "]",
    ]  # fmt: skip
    return make[kind % len(make)]()


N_KINDS = 20


def trial(seed: int) -> tuple[Callable[[str], str], list[str]]:
    """(an answering function whose answer about entities, triples or both is malformed, what it answered)."""
    rng = random.Random(seed)
    bad_entities, bad_triples = [(True, False), (False, True), (True, True)][seed % 3]
    kind = seed // 3
    answers: list[str] = []

    def answer(prompt: str) -> str:
        about_triples = is_about_triples(prompt)
        bad = bad_triples if about_triples else bad_entities
        right = json.dumps(TRIPLES if about_triples else ENTITIES)
        answers.append(malformed(rng, kind, triples=about_triples) if bad else right)
        return answers[-1]

    return answer, answers
