"""The first answer without an index: what is parsed, what it says, and the process that builds the index meanwhile."""

import json
import os
import random
import signal
import string
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from causalist import store
from causalist._internal.forked_task import is_alive
from causalist.errors import IndexNotWritable
from causalist.index import question_index
from causalist.index.open import index_folders
from causalist.index.options import IndexOptions
from causalist.model.answer import AskOptions, Level
from causalist.model.index import Index
from causalist.pipeline import first_answer
from causalist.pipeline.first_answer import Build, read_build
from causalist.pipeline.repository import Repository
from causalist.store import (
    BACKGROUND_LOCK,
    BACKGROUND_NAME,
    BACKGROUND_STOP,
    INDEX_NAME,
    hold_lock,
    index_file,
    read_index,
)
from tests.cli.commands import invoke, write_all
from tests.indexes import differences

pytestmark = pytest.mark.slow

N_OTHERS = 60
SHOP = {
    "shop/session.py": (
        "from shop.tokens import decode\n\n\nclass Session:\n    def verify(self, text):\n"
        '        """Check the signature of a session."""\n        return decode(text)\n'
    ),
    "shop/tokens.py": "def decode(text):\n    return text.split('.')\n",
    "shop/views.py": (
        "from shop.session import Session\n\n\ndef login(request):\n    return Session().verify(request)\n"
    ),
    "shop/jobs.py": (
        "from shop.views import login\n\n\ndef nightly(requests):\n    return [login(r) for r in requests]\n"
    ),
    **{f"parts/part_{n}.py": f"def part_{n}(x):\n    return x + {n}\n" * 20 for n in range(N_OTHERS)},
}
QUESTION = "where is the signature of a session verified"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = write_all(tmp_path / "shop", SHOP)
    long_ago = time.time() - 3600
    for path in root.rglob("*"):
        os.utime(path, (long_ago, long_ago))
    return root


@pytest.fixture(autouse=True)
def same_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    """What builds in this process leaves its priority to the tests that follow."""
    monkeypatch.setattr(first_answer, "_lower_priority", lambda: None)


@pytest.fixture
def no_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every repository is so large that only a part is parsed, and this part is small."""
    monkeypatch.setattr(question_index, "_MIN_CODE_BYTES", 0)
    monkeypatch.setattr(question_index, "_MIN_PARSED_BYTES", 2_000)


@pytest.fixture
def in_background(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Processes are allowed, and those that a test left are ended."""
    monkeypatch.delenv(first_answer.NO_BACKGROUND)
    started: list[int] = []
    start = first_answer.start_build

    def started_build(root: Path, options: IndexOptions) -> Build | None:
        build = start(root, options)
        if build is not None:
            started.append(build.process)
        return build

    monkeypatch.setattr(first_answer, "start_build", started_build)
    yield
    for process in started:
        if process and is_alive(process):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def wait_for_index(root: Path, process: int) -> Index:
    until = time.monotonic() + 60
    path = root / ".causalist" / INDEX_NAME
    while time.monotonic() < until:
        if os.waitpid(process, os.WNOHANG)[0]:
            break
        time.sleep(0.02)
    index = read_index(path)
    assert index is not None, read_build(root)
    return index


@pytest.mark.usefixtures("no_small")
class TestAnswer:
    def test_the_files_with_the_words_and_what_they_import_are_parsed(self, shop: Path) -> None:
        opened = Repository.open_for(shop, QUESTION)
        answer = opened.ask(QUESTION)
        assert answer.results[0].id == "shop/session.py::Session.verify"
        kinds = {node for node in opened.index.graph.nodes.ids if node.startswith("shop/tokens.py::")}
        assert kinds == {"shop/tokens.py::decode"}  # no word of the question is in it
        (note,) = [d for d in answer.diagnostics if d.slug == "partial"]
        assert opened.n_parsed is not None and 2 <= opened.n_parsed < 10
        assert note.detail.startswith(f"{opened.n_parsed} of {len(SHOP)} files parsed, those chosen by the words")
        assert (answer.repository.parsed, answer.repository.files) == (opened.n_parsed, len(SHOP))

    def test_a_file_that_is_not_parsed_is_known_by_its_path_and_words(self, shop: Path) -> None:
        opened = Repository.open_for(shop, QUESTION)
        ids = set(opened.index.graph.nodes.ids)
        assert {f"parts/part_{n}.py" for n in range(N_OTHERS)} <= ids
        assert "parts/part_7.py::part_7" not in ids
        assert opened.find("part_7.py")[0].id == "parts/part_7.py"

    def test_the_same_files_give_the_same_answer_whatever_is_cached(self, shop: Path) -> None:
        answers = [Repository.open_for(shop, QUESTION).ask(QUESTION) for _ in range(2)]
        first, second = (replace(answer, timings_ms={}) for answer in answers)
        assert first == second

    def test_its_id_is_not_that_of_the_whole_answer(self, shop: Path) -> None:
        part = Repository.open_for(shop, QUESTION).ask(QUESTION)
        assert part.answer_id != Repository.open(shop).ask(QUESTION).answer_id

    def test_with_room_for_all_files_it_is_the_answer_of_the_whole_index(
        self, shop: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A file that only vectors of words bring has no word of the question, and is not parsed: here all have one."""
        (shop / "shop/jobs.py").write_text("# of a session\n" + SHOP["shop/jobs.py"], encoding="utf-8")
        for name, value in (("_MIN_PARSED_BYTES", 10**8), ("_MAX_PARSED_BYTES", 10**8), ("_MIN_SHARE", -1.0)):
            monkeypatch.setattr(question_index, name, value)
        options = AskOptions(level=Level.FILE, top_k=5)
        part = Repository.open_for(shop, QUESTION).ask(QUESTION, options)
        whole = Repository.open(shop).ask(QUESTION, options)
        assert [hit.id for hit in part.results] == [hit.id for hit in whole.results]

    def test_a_secret_in_a_file_that_is_not_parsed_is_not_shown(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        secret = "ghp_" + "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=36))
        text = "-- signature of a session, verified\n" * 200 + f'password = "{secret}"\n'
        root = write_all(tmp_path / "notes", {**SHOP, "docs/session_signature.sql": text})
        monkeypatch.setattr(question_index, "_MIN_PARSED_BYTES", 1_000)
        opened = Repository.open_for(root, QUESTION)
        data = opened.read_bytes("docs/session_signature.sql")
        assert data is not None and secret.encode() not in data and b"password" in data
        answer = opened.ask("session signature password", AskOptions(level=Level.FILE))
        assert "docs/session_signature.sql" in [hit.path for hit in answer.results]
        assert answer.pack is not None and secret not in answer.pack.text

    def test_nothing_is_written_beside_the_files(self, shop: Path) -> None:
        Repository.open_for(shop, QUESTION).ask(QUESTION)
        assert not (shop / ".causalist").exists()

    def test_an_index_is_used_and_kept_current_as_before(self, shop: Path) -> None:
        Repository.open(shop)
        assert Repository.open_for(shop, QUESTION).n_parsed is None

    def test_an_index_of_another_version_is_none(self, shop: Path) -> None:
        """The first question after an upgrade does not wait for all files; a damaged index is reported as before."""
        index = Repository.open(shop, exact_root=True).index
        path = shop / ".causalist" / INDEX_NAME
        index_file.write_index(path, replace(index, version="0" * 16))
        assert Repository.open_for(shop, QUESTION).n_parsed is not None
        index_file.write_index(path, index)
        assert Repository.open_for(shop, QUESTION).n_parsed is None
        damaged = bytearray(path.read_bytes())
        damaged[100] ^= 1
        path.write_bytes(damaged)
        assert Repository.open_for(shop, QUESTION).n_parsed is None

    @pytest.mark.parametrize("text", ['"signature of a session"', "/sign.*session/"])
    def test_a_pattern_is_looked_for_everywhere(self, shop: Path, text: str) -> None:
        assert Repository.open_for(shop, text).n_parsed is None

    def test_under_continuous_integration_all_is_built(self, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CI", "true")
        assert Repository.open_for(shop, QUESTION).n_parsed is None


def test_a_small_repository_is_built_whole(shop: Path) -> None:
    assert Repository.open_for(shop, QUESTION).n_parsed is None


@pytest.mark.usefixtures("no_small")
class TestNames:
    def test_all_files_with_the_name_are_parsed(self, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        users = {f"users/user_{n}.py": SHOP["shop/views.py"].replace("login", f"login_{n}") for n in range(30)}
        write_all(shop, users)
        monkeypatch.setattr(question_index, "_MIN_PARSED_BYTES", 200)  # far less than these files
        part = Repository.open_part_with(shop, "Session.verify")
        assert part is not None and part.n_parsed is not None and part.n_parsed < len(SHOP)
        found = [edge.source for edge in part.callers("Session.verify")]
        assert len(found) == 31
        assert found == [edge.source for edge in Repository.open(shop).callers("Session.verify")]

    def test_a_name_that_nothing_defines_needs_the_whole(self, shop: Path) -> None:
        assert Repository.open_part_with(shop, "Session.verfy") is None
        assert Repository.open_part_with(shop, "requests") is None  # a parameter

    @pytest.mark.parametrize("name", ["shop/session.py", "shop/session.py:5", "session.py"])
    def test_a_file_or_position_needs_the_whole(self, shop: Path, name: str) -> None:
        assert Repository.open_part_with(shop, name) is None

    @pytest.mark.parametrize(
        ("sources", "name", "caller"),
        [
            (
                {
                    "api/__init__.py": "from shop.session import Session\n",
                    "lease.py": "class Lease:\n    def verify(self, text):\n        return text\n",
                    "till.py": "from api import Session\n\n\ndef pay(x):\n    return Session().verify(x)\n",
                },
                "Session.verify",
                "till.py::pay",
            ),
            (
                {
                    "Cargo.toml": '[package]\nname = "shop"\n\n[dependencies]\nmy_app = { path = "crates/my_app" }\n',
                    "crates/my_app/Cargo.toml": '[package]\nname = "my_app"\n',
                    "crates/my_app/src/client.rs": "pub struct Client;\nimpl Client { pub fn renew() {} }\n",
                    "crates/my_app/src/lib.rs": "mod client;\npub use crate::client::Client;\n",
                    "src/main.rs": "use my_app::Client;\nfn main() { Client::renew(); }\n",
                    "src/other.rs": "struct Lease;\nimpl Lease { fn renew() {} }\n",
                },
                "Client.renew",
                "src/main.rs::main",
            ),
        ],
    )
    def test_what_a_package_exports_again_leads_to_it(
        self, shop: Path, sources: dict[str, str], name: str, caller: str
    ) -> None:
        """The file that does so has the name of the class, and not that of the method."""
        write_all(shop, sources)
        part = Repository.open_part_with(shop, name.rpartition(".")[2])  # with "Client", its words would lead to it
        assert part is not None and part.n_parsed is not None and part.n_parsed < 20
        found = {edge.source: edge.confidence for edge in part.callers(name)}
        assert found[caller] > 0.9
        assert found == {edge.source: edge.confidence for edge in Repository.open(shop).callers(name)}

    @pytest.mark.parametrize(
        ("definition", "use", "name", "caller"),
        [
            ("cart.py", "till.py", "Cart.__init__", "shop/till.py::pay"),
            ("cart.ts", "till.ts", "Cart.constructor", "shop/till.ts::pay"),
            ("cart.rb", "till.rb", "Cart.initialize", "shop/till.rb::pay"),
        ],
    )
    def test_what_files_run_without_its_name_needs_the_whole(
        self, shop: Path, definition: str, use: str, name: str, caller: str
    ) -> None:
        sources = {
            "cart.py": "class Cart:\n    def __init__(self, n):\n        self.n = n\n",
            "till.py": "from shop.cart import Cart\n\n\ndef pay():\n    return Cart(1)\n",
            "cart.ts": "export class Cart { constructor(n) { this.n = n } }\n",
            "till.ts": "import { Cart } from './cart'\nexport function pay() { return new Cart(1) }\n",
            "cart.rb": "class Cart\n  def initialize(n)\n    @n = n\n  end\nend\n",
            "till.rb": "require_relative 'cart'\ndef pay\n  Cart.new(1)\nend\n",
        }
        write_all(shop, {f"shop/{each}": sources[each] for each in (definition, use)})
        assert Repository.open_part_with(shop, name) is None
        done = invoke("callers", name, "--json", "--repo", str(shop))
        assert [edge["source"] for edge in json.loads(done.stdout)["edges"]] == [caller]

    def test_a_name_in_too_many_files_needs_the_whole(self, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(question_index, "_MAX_COMPLETE_BYTES", 100)
        assert Repository.open_part_with(shop, "Session.verify") is None

    def test_the_command_says_what_was_parsed(self, shop: Path) -> None:
        done = invoke("callers", "Session.verify", "--json", "--repo", str(shop))
        document = json.loads(done.stdout)
        assert document["edges"][0]["source"] == "shop/views.py::login"
        assert document["partial"]["files"] == len(SHOP) and document["partial"]["parsed"] < 10
        assert "causalist: note: partial: " in done.stderr and "with the name and what they use" in done.stderr

    def test_a_use_is_seen_in_a_part_and_its_absence_in_the_whole(self, shop: Path) -> None:
        found = invoke("verify", "login", "Session.verify", "--json", "--no-background", "--repo", str(shop))
        document = json.loads(found.stdout)
        assert document["known"] == "yes" and document["partial"]["parsed"] < 10
        assert not (shop / ".causalist" / INDEX_NAME).exists()
        absent = invoke("verify", "Session.verify", "login", "--json", "--no-background", "--repo", str(shop))
        assert absent.code == 1 and json.loads(absent.stdout)["known"] == "no"
        assert "partial" not in json.loads(absent.stdout) and "partial" not in absent.stderr
        assert (shop / ".causalist" / INDEX_NAME).exists()
        again = json.loads(invoke("verify", "login", "Session.verify", "--json", "--repo", str(shop)).stdout)
        assert again["edges"] == document["edges"]

    def test_wait_builds_first(self, shop: Path) -> None:
        done = invoke("callers", "Session.verify", "--json", "--wait", "--repo", str(shop))
        assert "partial" not in json.loads(done.stdout) and "partial" not in done.stderr
        assert (shop / ".causalist" / INDEX_NAME).exists()


@pytest.mark.usefixtures("no_small")
def test_what_a_part_does_not_find_is_looked_for_in_the_whole(shop: Path) -> None:
    done = invoke("ask", "zzyzx", "--repo", str(shop))
    assert done.code == 1 and "partial" not in done.stderr
    assert (shop / ".causalist" / INDEX_NAME).exists()


@pytest.mark.usefixtures("no_small")
class TestBackground:
    @pytest.mark.usefixtures("in_background")
    def test_the_index_is_built_and_is_that_of_a_command(self, shop: Path) -> None:
        opened = Repository.open_for(shop, QUESTION)
        build = read_build(shop)
        assert build is not None and build.is_running
        assert f"the whole index is being built (process {build.process}" in opened.notes[-1].detail
        built = wait_for_index(shop, build.process)
        assert not (shop / ".causalist" / BACKGROUND_NAME).exists()
        assert Repository.open_for(shop, QUESTION).n_parsed is None
        (shop / ".causalist" / INDEX_NAME).unlink()
        again = Repository.open(shop).index
        assert differences(replace(built, scanned_at=0), replace(again, scanned_at=0)) == []

    @pytest.mark.usefixtures("in_background")
    def test_there_is_one_process_at_a_time(self, shop: Path) -> None:
        first = first_answer.start_build(shop, IndexOptions())
        second = first_answer.start_build(shop, IndexOptions())
        assert first is not None and second is not None and second.process == first.process
        wait_for_index(shop, first.process)

    @pytest.mark.usefixtures("in_background")
    def test_a_process_that_is_killed_is_started_again_once(self, shop: Path) -> None:
        for attempt in (1, 2):
            build = first_answer.start_build(shop, IndexOptions())
            assert build is not None and build.attempts == attempt
            os.kill(build.process, signal.SIGKILL)
            os.waitpid(build.process, 0)
            found = read_build(shop)
            assert found is not None and found.failure == "it was ended before it was complete"
        again = first_answer.start_build(shop, IndexOptions())
        assert again is not None and (again.attempts, again.is_running) == (2, False)
        note = Repository.open_for(shop, QUESTION).notes[-1].detail
        assert note.endswith(
            "building the whole index failed: it was ended before it was complete; `causalist index` builds it now"
        )
        assert invoke("index", "--repo", str(shop)).code == 0
        assert read_build(shop) is None

    @pytest.mark.parametrize("how", ["environment", "option", "settings"])
    def test_no_process_where_none_is_allowed(self, shop: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
        if how != "environment":
            monkeypatch.delenv(first_answer.NO_BACKGROUND)
        if how == "settings":
            write_all(shop, {"causalist.toml": "[index]\nbackground = false\n"})
        opened = Repository.open_for(shop, QUESTION, background=how != "option")
        assert read_build(shop) is None and not (shop / ".causalist").exists()
        assert opened.notes[-1].detail.endswith("no process builds the whole index; `causalist index` does")

    def test_status_says_how_far_it_is(self, shop: Path) -> None:
        place = shop / ".causalist"
        place.mkdir()
        state = Build(os.getpid(), 1, "parsing", 12, 64)
        (place / BACKGROUND_NAME).write_text(json.dumps(state._asdict()))
        with hold_lock(place / BACKGROUND_LOCK, 0.0, "busy"):
            done = invoke("status", "--repo", str(shop))
            document = json.loads(invoke("status", "--json", "--repo", str(shop)).stdout)
        assert done.code == 0
        assert (
            f"none yet; the whole index is being built (process {os.getpid()}: parsing, 12 of 64 files)" in done.stdout
        )
        (diagnostic,) = document["diagnostics"]
        assert diagnostic["slug"] == "partial"

    def test_a_number_of_another_process_is_no_build(self, shop: Path) -> None:
        place = shop / ".causalist"
        place.mkdir()
        (place / BACKGROUND_NAME).write_text(json.dumps(Build(os.getpid(), 1)._asdict()))
        build = read_build(shop)
        assert build is not None and not build.is_running

    def test_a_process_that_somebody_looks_at_while_it_begins_works_all_the_same(self, shop: Path) -> None:
        """As it begins to, another one holds its lock for the moment of a look."""
        place = shop / ".causalist"
        place.mkdir()
        held, done = threading.Event(), threading.Event()

        def look() -> None:
            with hold_lock(place / BACKGROUND_LOCK, 0.0, "busy"):
                held.set()
                done.wait(0.2)

        other = threading.Thread(target=look)
        other.start()
        held.wait()
        first_answer.main([str(shop), str(place), "1", "0"])
        other.join()
        assert (place / INDEX_NAME).exists()

    def test_the_state_of_a_process_at_work_goes_before_that_of_a_failure(
        self, shop: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A user who may not write in the folder has a process of their own, beside that of the owner."""
        own, mine = index_folders(shop)
        for place in (own, mine):
            place.mkdir(parents=True)
        (own / BACKGROUND_NAME).write_text(json.dumps(Build(1, 2, failure="no room")._asdict()))
        (mine / BACKGROUND_NAME).write_text(json.dumps(Build(7, 1)._asdict()))
        with hold_lock(mine / BACKGROUND_LOCK, 0.0, "busy"):
            assert read_build(shop) == Build(7, 1)
        assert read_build(shop) == Build(7, 1, failure="it was ended before it was complete")
        (mine / BACKGROUND_NAME).unlink()
        assert read_build(shop) == Build(1, 2, failure="no room")

    @pytest.mark.usefixtures("in_background")
    def test_failures_of_another_user_do_not_count(self, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        own, mine = index_folders(shop)
        own.mkdir()
        version = first_answer.index_version()
        (own / BACKGROUND_NAME).write_text(json.dumps(Build(1, 2, failure="no room", version=version)._asdict()))
        prepare = first_answer.prepare_folder

        def refused(place: Path) -> None:
            if place == own:
                raise IndexNotWritable(f"cannot write {place}")
            prepare(place)

        monkeypatch.setattr(first_answer, "prepare_folder", refused)
        build = first_answer.start_build(shop, IndexOptions())
        assert build is not None and (build.attempts, build.is_running) == (1, True)
        wait_for_index(shop, build.process)
        assert not (mine / BACKGROUND_NAME).exists()
        assert read_build(shop) is None  # whoever wrote the index ended what was said of both

    def test_an_index_in_the_other_folder_is_no_failure(self, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        own, mine = index_folders(shop)
        own.mkdir()
        write = index_file.write_index

        def full(path: Path, index: Index, *known: Any) -> Any:
            if path.parent == own:
                raise IndexNotWritable(f"cannot write {path}: No space left on device")
            return write(path, index, *known)

        monkeypatch.setattr(index_file, "write_index", full)
        monkeypatch.setattr(store, "write_index", full, raising=False)
        first_answer.main([str(shop), str(own), "1", "0"])
        assert (mine / INDEX_NAME).exists() and read_build(shop) is None

    def test_a_process_whose_state_cannot_be_written_is_not_started(
        self, shop: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As on a full disk: each question would start another one."""
        monkeypatch.setattr(first_answer, "_write_state", lambda place, build: False)
        assert first_answer.start_build(shop, IndexOptions()) is None

    def test_a_process_that_somebody_waits_for_ends_without_a_failure(
        self, shop: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place = shop / ".causalist"
        place.mkdir()
        began: list[str] = []
        reporter = first_answer._Reporter.__call__

        def asked(self: Any, what: str, done: int, total: int) -> None:
            began.append(what)
            if what == "linking":
                (place / BACKGROUND_STOP).touch()
                self._looked_at = 0.0
            reporter(self, what, done, total)

        (place / BACKGROUND_STOP).touch()  # of somebody who waits no more
        monkeypatch.setattr(first_answer._Reporter, "__call__", asked)
        first_answer.main([str(shop), str(place), "1", "0"])
        assert "parsing" in began and "indexing words" not in began
        assert not (place / INDEX_NAME).exists() and read_build(shop) is None

    def test_what_a_repository_ships_is_not_followed(self, shop: Path, tmp_path: Path) -> None:
        place = shop / ".causalist"
        place.mkdir()
        (tmp_path / "elsewhere").write_text(json.dumps(Build(1, 1)._asdict()))
        (place / BACKGROUND_NAME).symlink_to(tmp_path / "elsewhere")
        assert read_build(shop) is None
        (place / BACKGROUND_NAME).unlink()
        (place / BACKGROUND_NAME).write_text('{"process": "no"}')
        assert read_build(shop) is None

    @pytest.mark.usefixtures("in_background")
    def test_a_failure_is_kept_with_its_reason(self, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The folder loses all its files before the process looks at them."""
        place = shop / ".causalist"
        place.mkdir()
        for path in [*shop.glob("shop/*"), *shop.glob("parts/*")]:
            path.unlink()
        first_answer.main([str(shop), str(place), "1", "0"])
        build = read_build(shop)
        assert build is not None and build.failure.startswith("nothing-to-index: ")
