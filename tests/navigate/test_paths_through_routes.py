"""A path from a request to what handles its route, and from a message to what handles it."""

from pathlib import Path

import pytest

from causalist.pipeline.repository import Repository
from causalist.servers.text_answers import path_text

APP = """\
from flask import Flask

app = Flask(__name__)


@app.route("/users/<id>")
def get_user(id):
    return load(id)


def load(id):
    return id
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    (tmp_path / "api.js").write_text('export function fetchUser() { return fetch("/users/1"); }\n')
    (tmp_path / "app.py").write_text(APP)
    return Repository.open(tmp_path)


def test_the_route_is_a_step(repository: Repository) -> None:
    path = repository.path("fetchUser", "load")
    assert path is not None and path.forward
    assert [(hop.node, hop.edge, hop.path, hop.line) for hop in path.hops] == [
        ("api.js::fetchUser", None, "api.js", 1),
        ("external:route:GET /users/<id>", "routes", "api.js", 1),
        ("app.py::get_user", "routes", "app.py", 6),
        ("app.py::load", "calls", "app.py", 8),
    ]
    assert [edge.kind for edge in path.edges] == ["routes", "routes", "calls"]
    assert 0.0 < path.probability < 1.0


def test_nothing_leads_from_a_handler_to_a_request(repository: Repository) -> None:
    path = repository.path("load", "fetchUser")
    assert path is None or not path.forward


def test_agents_get_the_source_of_what_is_inside(repository: Repository) -> None:
    text = path_text(repository, "fetchUser", "load", 1000).text
    assert "→ routes external:route:GET /users/<id>" in text and "(external)" not in text


def test_a_request_uses_what_handles_its_route(repository: Repository) -> None:
    verdict = repository.verify("fetchUser", "get_user")
    assert verdict.known.value == "yes"
    assert [(edge.kind, edge.target) for edge in verdict.edges] == [("routes", "external:route:GET /users/<id>")]
    assert repository.verify("fetchUser", "load").known.value != "yes"


def test_a_message_is_a_step(tmp_path: Path) -> None:
    (tmp_path / "Till.cs").write_text("class Paid {}\nclass Till { void Pay() { bus.Publish(new Paid()); } }\n")
    handler = (
        "class Mails : INotificationHandler<Paid> {\n  void Handle(Paid paid) { Deliver(); }\n  void Deliver() {}\n}\n"
    )
    (tmp_path / "Mails.cs").write_text(handler)
    repository = Repository.open(tmp_path)
    path = repository.path("Till.Pay", "Mails.Deliver")
    assert path is not None and path.forward
    assert [(hop.node, hop.edge, hop.path, hop.line) for hop in path.hops] == [
        ("Till.cs::Till.Pay", None, "Till.cs", 2),
        ("Mails.cs::Mails.Handle", "emits", "Till.cs", 2),
        ("Mails.cs::Mails.Deliver", "calls", "Mails.cs", 2),
    ]
    assert [(each.kind, each.target) for each in repository.callees("Till.Pay")] == [
        ("calls", "Till.cs::Paid"),
        ("emits", "Mails.cs::Mails.Handle"),
    ]
    back = repository.path("Mails.Deliver", "Till.Pay")
    assert back is None or not back.forward
