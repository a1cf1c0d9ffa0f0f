"""Names as people write them, and the nodes that they mean."""

import dataclasses
import os
from pathlib import Path

import pytest

from causalist.errors import AmbiguousNode, UnknownNode
from causalist.model.answer import AskOptions
from causalist.pipeline.repository import Repository
from tests.cli.commands import write_all


def id_of(repository: Repository, name: str, folder: str = "") -> str:
    named = dataclasses.replace(repository, folder=folder).resolve_name(name)
    assert not named.note
    return repository.index.graph.nodes.ids[named.node]


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("src/auth.py", "src/auth.py"),
        (" src/auth.py\n", "src/auth.py"),
        ("./src/auth.py", "src/auth.py"),
        ("src//app/../auth.py", "src/auth.py"),
        ("src\\auth.py", "src/auth.py"),
        ("src/auth", "src/auth.py"),
        ("app/auth", "src/app/auth.py"),
        ("Login.py", "src/app/Login.py"),
        ("Login", "src/app/Login.py"),
        ("src/odd#name.py", "src/odd%23name.py"),
        ("src/odd#name.py::odd", "src/odd%23name.py::odd"),
        ("Session", "src/auth.py::Session"),
        ("Session.verify", "src/auth.py::Session.verify"),
        ("src\\auth.py::Session.verify", "src/auth.py::Session.verify"),
        ("auth.py::Session.verify", "src/auth.py::Session.verify"),
        ("auth::Session", "src/auth.py::Session"),
        ("app/auth.py::verify", "src/app/auth.py::verify"),
        ("::logIn", "src/app/Login.py::logIn"),
        ("auth.Session.verify", "src/auth.py::Session.verify"),
        ("src.app.auth", "src/app/auth.py"),
        ("same", "src/auth.py::Session.verify.same"),
        ("external:numpy", "external:numpy"),
        ("numpy", "external:numpy"),
        ("README.md#usage", "README.md#usage"),
        ("README#usage", "README.md#usage"),
        ("README.md#Usage", "README.md#usage"),
        ("guide.md#usage-of-all", "docs/guide.md#usage-of-all"),
        ("Usage of all", "docs/guide.md#usage-of-all"),
    ],
)
def test_means(named: Repository, name: str, node: str) -> None:
    assert id_of(named, name) == node


@pytest.mark.parametrize(
    ("name", "node"),
    [
        # As people and agents write calls and members.
        ("logIn(token)", "src/app/Login.py::logIn"),
        ("Session.verify(token: str)", "src/auth.py::Session.verify"),
        ("Session#verify", "src/auth.py::Session.verify"),
        ("Session->verify", "src/auth.py::Session.verify"),
        ("Session.prototype.verify", "src/auth.py::Session.verify"),
        # By the folder, as Go names a package, and as its stack traces do.
        ("app.verify", "src/app/auth.py::verify"),
        ("src/app.verify", "src/app/auth.py::verify"),
        ("src.app.logIn", "src/app/Login.py::logIn"),
        ("github.com/shop/door/src/app.verify", "src/app/auth.py::verify"),
        ("github.com/shop/src.(*Session).verify", "src/auth.py::Session.verify"),
        ("(*Session).verify", "src/auth.py::Session.verify"),
        ("`Session.verify()`", "src/auth.py::Session.verify"),
        ('"Session"', "src/auth.py::Session"),
        ("Session,", "src/auth.py::Session"),
        ("@Session", "src/auth.py::Session"),
        ("class Session(Base):", "src/auth.py::Session"),
        ("async def logIn(user)", "src/app/Login.py::logIn"),
        ("src/auth.py#Session.verify", "src/auth.py::Session.verify"),
        ("src/auth.py:Session.verify", "src/auth.py::Session.verify"),
        ("src/auth.py::Session::verify", "src/auth.py::Session.verify"),
        # As editors, addresses, diffs and compilers write places.
        ("src/auth.py#L1", "src/auth.py::TRIES"),
        ("src/auth.py:L1-L1", "src/auth.py::TRIES"),
        ("src/auth.py#L1-L2", "src/auth.py"),
        ("src/auth.py(1)", "src/auth.py::TRIES"),
        ("src/auth.py, line 1", "src/auth.py::TRIES"),
        ("line 1 of src/auth.py", "src/auth.py::TRIES"),
        ("src/auth.py:1:TRIES = 3", "src/auth.py::TRIES"),
        ("a/src/auth.py", "src/auth.py"),
        ("b/src/auth.py:1", "src/auth.py::TRIES"),
        ("file:///elsewhere/src/auth.py#L1", "src/auth.py::TRIES"),
        # As stack traces write them.
        (r"at App.Session.verify(String token) in C:\b\src\auth.py:line 10", "src/auth.py::Session.verify"),
        ("src/auth.py:10 +0x1d", "src/auth.py::Session.verify"),
        ("verify@src/auth.py:10:3", "src/auth.py::Session.verify"),
        ("src/app/Login.py:in `logIn'", "src/app/Login.py::logIn"),
        ("src/auth.py:in 'Session#verify'", "src/auth.py::Session.verify"),
        ("+++ b/src/auth.py", "src/auth.py"),
        ('  File "/home/ci/build/src/auth.py", line 1, in <module>', "src/auth.py::TRIES"),
        ("    at Session.verify (/app/src/auth.py:1:12)", "src/auth.py::TRIES"),
    ],
)
def test_is_read_as_people_write_it(named: Repository, name: str, node: str) -> None:
    assert named.index.graph.nodes.ids[named.resolve_name(name).node] == node


@pytest.mark.parametrize(
    "name", ["nothing(token)", "Session#nothing", "src/auth.py#L99999", "def", "at (x)", "()", "@"]
)
def test_a_reading_that_no_node_has_is_unknown(named: Repository, name: str) -> None:
    with pytest.raises(UnknownNode):
        named.resolve_name(name)


def test_what_a_reading_leaves_out_is_said(named: Repository) -> None:
    assert named.resolve_name("com.shop.Session.verify").note == (
        "'com.shop.Session.verify' is taken for src/auth.py::Session.verify"
    )


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("src/auth.py:1", "src/auth.py::TRIES"),
        ("src/auth.py:2", "src/auth.py"),
        ("src/auth.py:4", "src/auth.py::Session"),
        ("src/auth.py:5", "src/auth.py::Session.limit"),
        ("src/auth.py:8", "src/auth.py::Session.__init__"),  # and not the attribute that it sets
        ("src/auth.py:8:14", "src/auth.py::Session.__init__"),
        ("src/auth.py:12", "src/auth.py::Session.verify.same"),
        ("src/auth.py:14:", "src/auth.py::Session.verify"),
        ("src\\app\\auth.py:1", "src/app/auth.py::verify"),
        ("app/auth:2", "src/app/auth.py::verify"),
        ("README.md:7", "README.md#usage"),
        ("README.md:1", "README.md#shop"),
    ],
)
def test_means_what_stands_at_the_line(named: Repository, name: str, node: str) -> None:
    assert id_of(named, name) == node


@pytest.mark.parametrize(
    ("folder", "name", "node"),
    [
        ("src", "auth.py", "src/auth.py"),
        ("src/app", "auth.py", "src/app/auth.py"),
        ("src/app", "../auth.py", "src/auth.py"),
        ("src/app", "./auth.py::verify", "src/app/auth.py::verify"),
        ("src/app", "auth.py:2", "src/app/auth.py::verify"),
        ("src", "src/auth.py", "src/auth.py"),  # ids that the commands print work in every folder
    ],
)
def test_paths_start_in_the_current_folder(named: Repository, folder: str, name: str, node: str) -> None:
    assert id_of(named, name, folder) == node


def test_opening_in_a_folder_makes_it_the_current_one(named: Repository) -> None:
    (named.root / ".git").mkdir(exist_ok=True)
    for name, content in (("HEAD", "ref: refs/heads/main\n"), ("objects", None), ("refs", None)):
        target = named.root / ".git" / name
        target.mkdir(exist_ok=True) if content is None else target.write_text(content)
    assert Repository.open(named.root / "src" / "app").folder == "src/app"
    assert Repository.open(named.root).folder == ""
    assert Repository.open(named.root / "src" / "app", exact_root=True).folder == ""


def test_absolute_paths(named: Repository, tmp_path: Path) -> None:
    assert id_of(named, str(named.root / "src" / "auth.py")) == "src/auth.py"
    assert id_of(named, f"{named.root}/src/auth.py:4") == "src/auth.py::Session"
    (tmp_path / "link").symlink_to(named.root)
    assert id_of(named, f"{tmp_path}{os.sep}link/src/auth.py::Session") == "src/auth.py::Session"
    other = tmp_path / "src" / "auth.py"  # not here: a path of another machine
    assert named.resolve_name(str(other)).note == f"'{other}' is taken for src/auth.py"
    other.parent.mkdir()
    other.touch()
    with pytest.raises(UnknownNode):
        named.resolve(str(other))
    with pytest.raises(UnknownNode):
        named.resolve("/etc/passwd")


def test_another_case_is_the_last_resort_and_said(named: Repository) -> None:
    found = named.resolve_name("session.VERIFY")
    assert named.index.graph.nodes.ids[found.node] == "src/auth.py::Session.verify"
    assert "taken for src/auth.py::Session.verify" in found.note
    assert "src/app/Login.py" in named.resolve_name("login.py").note
    assert not named.resolve_name("Login").note  # the file's own case comes before a function of another


def test_several_are_listed_with_kind_and_line(named: Repository) -> None:
    with pytest.raises(AmbiguousNode) as error:
        named.resolve("verify")
    assert str(error.value).splitlines()[1:] == [
        "  src/app/auth.py::verify  function, line 1",
        "  src/auth.py::AuthMiddleware.verify  method, line 18",
        "  src/auth.py::Session.verify  method, line 10",
    ]
    with pytest.raises(AmbiguousNode, match=r"src/auth\.py  file"):
        named.resolve("auth.py")


def test_the_example_is_no_test(tmp_path: Path) -> None:
    files = {"a/test_a.py": "def test_a():\n    assert True\n", "z.py": "class Door:\n    def shut(self): ...\n"}
    with pytest.raises(UnknownNode, match=r"ids look like z\.py::Door\.shut$"):
        Repository.open(write_all(tmp_path, files), exact_root=True).resolve("qqqzzz")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("verfiy", "written nearly so:\n  src/app/auth.py::verify  function, line 1"),
        ("Session.verfy", r"src/auth\.py::Session\.verify"),
        ("src/auht.py", "src/auth.py  file"),
        ("src/auht.py:3", "src/auth.py  file"),
        ("Sesion", "src/auth.py::Session  class, line 4"),
        ("Gate.verify", "by its last name there is"),
        ("src", "is a folder"),
        ("src/app/", "is a folder"),
        ("SRC", "nothing here is called 'SRC'; there is the folder src/"),
        ("Src/App", "there is the folder src/app/"),
        ("src/auth.py:99", "ends with line 20"),  # editors have an empty line after the last newline
        ("src/auth.py:0", "has no line 0"),
        ("qqqzzz", "ids look like"),
        ("x" * 10_000, "ids look like"),
        ("", "nothing here is called"),
        ("::", "nothing here is called"),
        ("#", "nothing here is called"),
        ("..", "nothing here is called"),
        ("../../etc/passwd", "nothing here is called"),
        ("\x00", "nothing here is called"),
        ("\udc80", "nothing here is called"),
    ],
)
def test_unknown(named: Repository, name: str, said: str) -> None:
    with pytest.raises(UnknownNode, match=said):
        named.resolve(name)


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    root = tmp_path_factory.mktemp("declared")
    files = {
        "door.ml": "type turn = int\nlet turn x = x\nlet turn x = turn (turn x)\nlet shut x = x\n",
        "door.mli": "type turn\n\n(** Turns the key. *)\nval turn : int -> turn\nval gone : int -> int\n",
        "main.ml": "let run x = Door.turn x\n",
        "lock.py": "def lock():\n    return 1\n",
        "lock.pyi": "def lock() -> int: ...\ndef hidden() -> int: ...\n",
    }
    for path, text in files.items():
        (root / path).write_text(text)
    return Repository.open(root)


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("door.mli::turn~2", "door.ml::turn~3"),  # the value; the last of its name is what others see
        ("door.mli::turn", "door.ml::turn"),  # the type
        ("door.mli:4", "door.ml::turn~3"),
        ("lock.pyi::lock", "lock.py::lock"),
    ],
)
def test_what_an_interface_declares_is_what_is_defined_beside_it(declared: Repository, name: str, node: str) -> None:
    named = declared.resolve_name(name)
    assert declared.index.graph.nodes.ids[named.node] == node
    assert named.note.endswith(f" is defined by {node}")


@pytest.mark.parametrize(
    ("name", "node"), [("lock", "lock.py::lock"), ("gone", "door.mli::gone"), ("hidden", "lock.pyi::hidden")]
)
def test_what_is_defined_nowhere_stays_a_declaration(declared: Repository, name: str, node: str) -> None:
    assert id_of(declared, f"::{name}") == node


def test_callers_of_a_declaration_are_those_of_its_definition(declared: Repository) -> None:
    callers = declared.callers("door.mli::turn~2")
    assert [(each.source, each.target) for each in callers] == [("main.ml::run", "door.ml::turn~3")]
    assert callers == declared.callers("door.ml::turn~3")


def test_find_shows_the_definition_with_what_its_declaration_says(declared: Repository) -> None:
    hits = declared.find("turn")
    assert [each.id for each in hits] == ["door.ml::turn~3", "door.ml::turn", "door.ml::turn~2"]
    assert [each.doc for each in hits] == ["(** Turns the key. *)", "", ""]


def test_an_answer_ranks_the_definition_where_the_declaration_matches(declared: Repository) -> None:
    ids = declared.rank_nodes("what turns the key", AskOptions())
    assert "door.ml::turn~3" in ids[:2]
    assert not {"door.mli::turn", "door.mli::turn~2"} & {*ids}
