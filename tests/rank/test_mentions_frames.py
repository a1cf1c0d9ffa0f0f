"""Frames of tracebacks -> definitions, in a small repository of several languages."""

import pytest

from causalist.pipeline.repository import Repository
from causalist.rank.query.query import parse_query
from causalist.rank.scoring.mentions import FRAME_DECAY, OUTER_TRACE, definition_at, frame_scores, locate_frames

FILES = {
    "src/shop/auth.py": (
        "class Session:\n    def verify(self):\n        return check(self)\n\n\ndef check(it):\n    return it\n"
    ),
    "src/shop/client.py": "def send(it):\n    return it\n",
    "src/shop/__init__.py": "",
    "main.py": "def run():\n    return 1\n",
    "web/src/cart/index.ts": "export function total() {\n  return 1;\n}\n",
    "web/src/user/index.ts": "import x from 'dep';\nexport function total() {\n  return x(2);\n}\n",
    "store/store.go": "package store\n\nfunc Open() int {\n\treturn 1\n}\n",
    "java/src/main/java/shop/Orders.java": (
        "package shop;\nclass Orders {\n  void place() {\n    run();\n  }\n  void run() {}\n}\n"
    ),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    root = tmp_path_factory.mktemp("shop")
    for path, text in FILES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Repository.open(root, exact_root=True)


def of(shop: Repository, text: str) -> dict[str, float]:
    index = shop.index
    found = locate_frames(parse_query("It fails\n" + text).frames, index.graph, index.lexical)
    return {index.graph.nodes.ids[node]: value for node, value in found.items()}


def python(*frames: tuple[str, int, str]) -> str:
    lines = [f'  File "{path}", line {line}, in {function}\n    x' for path, line, function in frames]
    return "Traceback (most recent call last):\n" + "\n".join(lines) + "\nValueError: x\n"


def test_the_innermost_frame_inside_of_the_repository_counts_most(shop: Repository) -> None:
    text = python(
        ("/home/u/app/src/shop/client.py", 2, "send"),
        ("/usr/lib/python3/site-packages/shop/auth.py", 3, "verify"),
        ("/usr/lib/python3.11/json/decoder.py", 355, "raw_decode"),
    )
    assert of(shop, text) == {"src/shop/auth.py::Session.verify": 1.0, "src/shop/client.py::send": FRAME_DECAY}


def test_the_cause_counts_more_than_what_it_led_to(shop: Repository) -> None:
    text = """\
Exception in thread "main" shop.E: x
\tat web.Foreign.go(Foreign.java:1)
\tat shop.Orders.place(Orders.java:4)
Caused by: java.lang.IllegalStateException: y
\tat shop.Orders.run(Orders.java:6)
\t... 2 more
"""
    orders = "java/src/main/java/shop/Orders.java::Orders"
    assert of(shop, text) == {f"{orders}.run": 1.0, f"{orders}.place": OUTER_TRACE}


@pytest.mark.parametrize(
    "path",
    [
        "/usr/lib/python3.11/http/client.py",  # one part in common, and `send` is not there
        "/usr/lib/python3/site-packages/http/client.py",
        "/app/node_modules/dep/web/src/user/index.ts",  # the repository imports dep from outside
        "/home/u/.cargo/registry/src/main.py",
    ],
)
def test_frames_of_other_packages_are_dropped(shop: Repository, path: str) -> None:
    assert of(shop, python((path, 1, "request"))) == {}


def test_paths_of_windows_and_one_part_that_the_function_confirms(shop: Repository) -> None:
    assert of(shop, python(("C:\\code\\src\\shop\\auth.py", 7, "check"))) == {"src/shop/auth.py::check": 1.0}
    assert of(shop, python(("/elsewhere/client.py", 2, "send"))) == {"src/shop/client.py::send": 1.0}
    assert of(shop, python(("/elsewhere/client.py", 2, "post"))) == {}


def test_the_longest_tail_decides_between_files_of_one_name(shop: Repository) -> None:
    text = "TypeError: x\n    at total (/app/web/src/user/index.ts:3:1)\n"
    assert of(shop, text) == {"web/src/user/index.ts::total": 1.0}


def test_go(shop: Repository) -> None:
    text = "panic: x\n\ngoroutine 1 [running]:\nexample.com/shop/store.Open()\n\t/home/u/shop/store/store.go:4 +0x1\n"
    assert of(shop, text) == {"store/store.go::Open": 1.0}


def test_a_function_that_moved_is_found_by_name_and_a_line_without_one_by_rows(shop: Repository) -> None:
    graph = shop.index.graph
    file = graph.nodes.ids.position("src/shop/auth.py")
    name = graph.nodes.ids
    assert name[definition_at(file, 300, "verify", graph)] == "src/shop/auth.py::Session.verify"
    assert name[definition_at(file, 3, "", graph)] == "src/shop/auth.py::Session.verify"
    assert name[definition_at(file, 1, "", graph)] == "src/shop/auth.py::Session"
    assert definition_at(file, 5, "", graph) == -1


def test_scores_have_the_shape_of_the_graph(shop: Repository) -> None:
    index = shop.index
    question = parse_query("x\n" + python(("shop/auth.py", 3, "verify")))
    scores = frame_scores(question, index.graph, index.lexical)
    assert scores.shape == (len(index.graph.nodes),)
    assert scores.sum() == 1.0


def test_a_traceback_is_answered_with_where_it_ended(shop: Repository) -> None:
    text = "It fails since the last update\n" + python(
        ("src/shop/client.py", 2, "send"), ("src/shop/auth.py", 7, "check")
    )
    assert shop.ask(text).results[0].id == "src/shop/auth.py::check"
