"""The embedders that come with the program, against a server on loopback that speaks OpenAI's protocol."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from causalist.embed import embed_texts, get_embedder
from causalist.errors import ModelFailed
from tests.llm.models import use

pytestmark = pytest.mark.slow

pytest.importorskip("llm", reason="llm, which asks models, is not installed")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What the server was asked; of each text it says how long it is, and answers in the wrong order."""
    requests: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append((self.path, given["model"], given["input"], self.headers["Authorization"]))
            rows = [
                {"object": "embedding", "index": i, "embedding": [float(len(text)), 1.0]}
                for i, text in enumerate(given["input"])
            ]
            said = {"object": "list", "data": rows[::-1], "model": given["model"], "usage": {}}
            status = 404 if given["model"] == "absent" else 200
            data = json.dumps(said if status == 200 else {"error": {"message": "no such model"}}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/v1"
    use(monkeypatch, {"LLM_USER_PATH": str(tmp_path / "llm"), "OPENAI_BASE_URL": address})
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    yield requests
    server.shutdown()
    server.server_close()


def test_a_server_is_asked_in_batches(asked: list[Any]) -> None:
    embedder = get_embedder("openai:small")
    texts = ["x" * (1 + i % 5) for i in range(100)]
    rows = embed_texts(embedder, texts)
    assert [round(float(row[0] / row[1])) for row in rows] == [len(text) for text in texts]
    assert [(path, model, len(texts)) for path, model, texts, _ in asked] == [
        ("/v1/embeddings", "small", 96),
        ("/v1/embeddings", "small", 4),
    ]
    assert not embedder.local and embedder.name.startswith("openai:small@http://127.0.0.1:")


def test_a_server_that_says_no_is_an_error(asked: list[Any]) -> None:
    with pytest.raises(ModelFailed, match=r"openai:absent.* failed: NotFoundError.*no such model"):
        embed_texts(get_embedder("openai:absent"), ["one"])


def test_a_model_of_the_library_has_its_key(asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-the-test")
    embedder = get_embedder("llm:3-small")
    assert embedder.name == "llm:text-embedding-3-small"
    assert embed_texts(embedder, ["four"]).shape == (1, 2)
    assert asked[0][1:] == ("text-embedding-3-small", ["four"], "Bearer secret-of-the-test")


def test_models_that_are_not_chosen_or_known_are_said(asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelFailed, match="no embedding model is chosen"):
        get_embedder("llm")
    with pytest.raises(ModelFailed, match="llm knows no embedding model 'nonsense'"):
        get_embedder("llm:nonsense")
    with pytest.raises(ModelFailed, match="no embedding model is named"):
        get_embedder("openai")
    monkeypatch.delenv("OPENAI_BASE_URL")
    with pytest.raises(ModelFailed, match="openai has no key"):
        get_embedder("openai:small")
    assert not asked
