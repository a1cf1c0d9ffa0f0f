"""A question of one ordinary word that is the name of a definition: that definition comes first."""

import pytest

from causalist.model.answer import AskOptions, Level
from causalist.pipeline.repository import Repository
from causalist.rank.scoring import ranking
from tests.pipeline.conftest import WorkTree

_TOKENS = '''class Token:
    pass


def load_token(token):
    """Loads a token: the token of a token store is a token."""
    token = find_token(token)
    return token.token(token)


def save_token(token):
    return [token]


def find_token(token):
    return token


class Store:
    def load(self):
        return Token()


def expire():
    """Ends what is too old."""


limit = 10


def renew():
    def extend():
        return 1

    return extend()


def over_limit(limit):
    """Whether the limit is over: a limit of a limit."""
    return limit > limit
'''


@pytest.fixture
def tokens(tree: WorkTree) -> Repository:
    tree.write("app/tokens.py", _TOKENS)
    tree.write(
        "app/load.py", '"""How to load and expire: load all, expire all."""\ndef load_all(load):\n    return load\n'
    )
    tree.write("tests/test_tokens.py", "def check(token):\n    assert token.checked\n")
    return Repository.open(tree.path)


def ids(repository: Repository, question: str, **options: object) -> list[str]:
    return [hit.id for hit in repository.ask(question, AskOptions(**options)).results]  # type: ignore[arg-type]


def uses(repository: Repository, name: str) -> int:
    """With how many other nodes a definition is linked."""
    return int(repository.index.transition.degrees[repository.resolve(name)])


def without_namesakes(
    monkeypatch: pytest.MonkeyPatch, repository: Repository, question: str
) -> list[tuple[str, float]]:
    with monkeypatch.context() as patched:
        patched.setattr(ranking, "exact_namesakes", lambda *_: [])
        return [(hit.id, hit.score) for hit in repository.ask(question).results]


def test_the_definition_of_exactly_that_name_comes_first(tokens: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    before = without_namesakes(monkeypatch, tokens, "Token")
    assert before[0][0] == "app/tokens.py::load_token"
    assert ids(tokens, "Token")[0] == ids(tokens, " Token\n")[0] == "app/tokens.py::Token"
    assert tokens.find("Token")[0].id == "app/tokens.py::Token"
    # The others are in the order in which they were.
    assert ids(tokens, "Token")[1:] == [name for name, _ in before if name != "app/tokens.py::Token"]


def test_an_error_is_a_name_like_others(tree: WorkTree) -> None:
    tree.write(
        "errors.go",
        "package shop\n\ntype Error struct{}\n\nfunc (e *Error) Error() string {\n\treturn Error(Error)\n}\n",
    )
    tree.write("use.go", "package shop\n\nfunc use() *Error {\n\treturn &Error{}\n}\n")
    assert ids(Repository.open(tree.path), "Error")[0] == "errors.go::Error"


def test_a_function_in_small_letters_comes_first(tokens: Repository) -> None:
    assert ids(tokens, "expire")[0] == "app/tokens.py::expire"


@pytest.mark.parametrize(
    "question",
    [
        *("limit", "load", "extend", "check"),  # a variable, a method, a local function, a function of tests
        *("token", "TOKEN", "Expire"),  # in other letters
        *(
            "Token?",
            "Token expire",
            "the Token",
            "`Token`",
            '"Token"',
            "/Token/",
            "Token\n\nit fails",
        ),  # more than a word
        *("load_token", "Token.load", "Tokens", "tokens.py"),
    ],
)
def test_every_other_question_keeps_its_answer(
    tokens: Repository, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = without_namesakes(monkeypatch, tokens, question)
    assert [(hit.id, hit.score) for hit in tokens.ask(question).results] == before and before


def test_code_comes_before_tests_and_what_more_use_before_what_fewer_use(tree: WorkTree) -> None:
    tree.write(
        "tests/test_a.py",
        "class Handler:\n    pass\n\n\n" + "".join(f"def t{i}():\n    Handler()\n\n\n" for i in range(9)),
    )
    tree.write("b.py", "class Handler:\n    pass\n")
    tree.write("c.py", "class Handler:\n    pass\n" + "".join(f"\n\ndef c{i}():\n    Handler()\n" for i in range(3)))
    tree.write("d.py", "class Handler:\n    pass\n" + "".join(f"\n\ndef d{i}():\n    Handler()\n" for i in range(2)))
    repository = Repository.open(tree.path)
    expected = [f"{path}::Handler" for path in ("c.py", "d.py", "b.py", "tests/test_a.py")]
    assert [uses(repository, each) for each in expected] == [3, 2, 1, 9]
    assert ids(repository, "Handler", top_k=10)[:4] == expected
    assert [hit.id for hit in repository.find("Handler")][:4] == expected
    assert ids(repository, "Handler", level=Level.FILE)[:2] == ["c.py", "d.py"]
    assert ids(repository, "Handler", include=("d.py", "b.py"))[:2] == ["d.py::Handler", "b.py::Handler"]


def test_a_constructor_stays_behind_its_class(tree: WorkTree) -> None:
    tree.write("Plan.java", "class Plan {\n  Plan() {}\n  Plan(int a) {}\n}\n")
    tree.write(
        "Use.java",
        "class Use {\n  void a() { new Plan(); }\n  void b() { new Plan(1); }\n  void c() { new Plan(); }\n}\n",
    )
    assert ids(Repository.open(tree.path), "Plan")[0] == "Plan.java::Plan"


def test_of_many_namesakes_five_come_first(tree: WorkTree) -> None:
    for i in range(7):
        tree.write(f"m{i}.py", "class Handler:\n    pass\n")
    repository = Repository.open(tree.path)
    assert ids(repository, "Handler", top_k=10)[:5] == [f"m{i}.py::Handler" for i in range(5)]


def test_what_handles_a_named_route_comes_first(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    """`list_users` and `show_users` say more of the words of the path than the handler does."""
    tree.write(
        "app.py",
        "from flask import Flask\n\napp = Flask(__name__)\n\n\n"
        "def list_users(users):\n    return users\n\n\ndef show_users(post, users):\n    return post(users)\n\n\n"
        "@app.post('/users/<name>')\ndef enter(name):\n    return name\n\n\n"
        "@app.get('/users/<name>')\ndef show(name):\n    return name\n",
    )
    repository = Repository.open(tree.path)
    assert [(route.method, route.handler) for route in repository.routes("/users/<name>")] == [
        ("GET", "app.py::show"),
        ("POST", "app.py::enter"),
    ]
    for question in ("what handles POST /users/<name>?", "POST /users/<name>", "why does POST /users/<name> fail."):
        assert ids(repository, question)[0] == "app.py::enter"
    assert ids(repository, "GET /users/<name>")[0] == "app.py::show"
    two = "GET /users/<name> after POST /users/<name>"  # names no single one
    with_two = ids(repository, two)
    monkeypatch.setattr(ranking, "handlers_of_route", lambda *_: [])
    assert ids(repository, two) == with_two
    assert ids(repository, "POST /users/<name>")[0] != "app.py::enter"
