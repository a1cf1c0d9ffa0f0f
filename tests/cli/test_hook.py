"""`hook prompt`: context for a prompt where some is worth having; otherwise silence; exit code 0 in any case."""

import json
import os
import random
import re
import shutil
import signal
import string
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from causalist.cli.hook import (
    MAX_CONTEXT_CHARACTERS,
    MAX_PROMPT_CHARACTERS,
    has_search_terms,
    open_stored_repository,
    read_prompt,
    render_context,
)
from causalist.pipeline import first_answer
from causalist.pipeline.first_answer import NO_BACKGROUND, Build
from causalist.pipeline.repository import Repository
from tests.benchmarks.hook import topics
from tests.cli.commands import CHECKOUT, Done, run, write_all
from tests.pipeline.sample import in_memory

pytestmark = pytest.mark.slow

ASKED = "where is the bearer token of a request verified"
PLENTY = "30"  # seconds: the machine may be busy
AT_ONCE = 20.0


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hook") / "taskboard-api"
    shutil.copytree(CHECKOUT / "sample_repos" / "taskboard-api", folder)
    Repository.open(folder, exact_root=True)
    return folder


@pytest.fixture(autouse=True)
def no_folder_of_a_client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def hook(payload: object, *options: str, cwd: Path) -> Done:
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return run("hook", "prompt", "--deadline", PLENTY, *options, cwd=cwd, stdin=data, is_ready=True)


def silent(done: Done) -> bool:
    return (done.code, done.stdout) == (0, "")


def claude(prompt: str, cwd: Path, event: str = "UserPromptSubmit") -> dict[str, object]:
    return {
        "session_id": "00893aaf-19fa-41d2-8238-13269b9b3ca0",
        "transcript_path": "/home/me/.claude/projects/shop/00893aaf.jsonl",
        "cwd": str(cwd),
        "permission_mode": "default",
        "hook_event_name": event,
        "prompt": prompt,
    }


class TestFormats:
    @pytest.mark.parametrize("event", ["UserPromptSubmit", "BeforeAgent"])
    def test_claude_code_codex_vscode_gemini(self, event: str, indexed: Path, tmp_path: Path) -> None:
        done = hook(claude(ASKED, indexed, event), cwd=tmp_path)
        assert (done.code, done.stderr) == (0, "")
        document = json.loads(done.stdout)
        assert list(document) == ["hookSpecificOutput"]
        assert document["hookSpecificOutput"]["hookEventName"] == event
        self.is_about_tokens(document["hookSpecificOutput"]["additionalContext"])

    def test_cursor(self, indexed: Path, tmp_path: Path) -> None:
        payload = {
            "conversation_id": "668320d2-2fd8-4888-b33c-2a466fec86e7",
            "generation_id": "490b90b7-a2ce-4c2c-bb76-cb77b125df2f",
            "hook_event_name": "beforeSubmitPrompt",
            "workspace_roots": [str(indexed)],
            "prompt": ASKED,
            "attachments": [{"type": "file", "file_path": "src/index.ts"}],
        }
        done = hook(payload, cwd=tmp_path)
        document = json.loads(done.stdout)
        assert sorted(document) == ["additional_context", "continue"] and document["continue"] is True
        self.is_about_tokens(document["additional_context"])

    def test_plain_text_without_an_event_from_the_current_folder(self, indexed: Path) -> None:
        done = hook({"prompt": ASKED}, cwd=indexed)
        assert done.code == 0
        self.is_about_tokens(done.stdout)

    def test_the_folder_may_be_named(self, indexed: Path, tmp_path: Path) -> None:
        done = hook({"prompt": ASKED, "cwd": str(tmp_path)}, "--repo", str(indexed), cwd=tmp_path)
        self.is_about_tokens(done.stdout)

    @staticmethod
    def is_about_tokens(context: str) -> None:
        assert context.startswith("Causalist looked the prompt up in taskboard-api. ")
        assert "src/security/jwt-verifier.ts" in context and len(context) <= MAX_CONTEXT_CHARACTERS

    def test_a_prompt_is_kept_nowhere(self, indexed: Path, tmp_path: Path) -> None:
        kept = indexed / ".causalist" / "answers.jsonl"
        kept.unlink(missing_ok=True)
        hook(claude("where is the secret hunter2 of the bearer token verified", indexed), cwd=tmp_path)
        assert not kept.exists()


TRIVIAL = [
    "", " ", "y", "ok", "yes", "yes, go on", "Yes please!", "continue", "go ahead and do it", "thanks, looks good",
    "no, try again", "1", "2.", "/clear", "/compact keep the plan", "commit this", "run the tests again", "why?",
    "what's next?", "👍", "undo that", "perfect, now fix the other one too", "explain", "LGTM, ship", "...",
    "please explain that again in other words", "that did not work", "can you do the same for the others?",
]  # fmt: skip
TELLING = [
    ASKED, "fix the flaky retry of webhooks", "why does `verify` throw", "parse_date is wrong",
    "look at src/app/main.py", "add a createdAt column", "rename UserRepository", "認証はどこで行われますか",
    "wo wird die Mehrwertsteuer berechnet", "/src/app.py crashes on start", "TypeError: x is undefined in cart.ts",
]  # fmt: skip


class TestSilence:
    @pytest.mark.parametrize("prompt", TRIVIAL)
    def test_small_prompts_are_not_looked_up(self, prompt: str) -> None:
        assert not has_search_terms(prompt)

    @pytest.mark.parametrize("prompt", TELLING)
    def test_prompts_that_name_something_are(self, prompt: str) -> None:
        assert has_search_terms(prompt)

    def test_small_prompts_print_nothing_and_start_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("def price():\n    return 1\n")
        assert silent(hook(claude("yes, go on", tmp_path), cwd=tmp_path))
        time.sleep(0.2)
        assert not (tmp_path / ".causalist").exists()

    def test_a_guess_is_not_printed(self, indexed: Path, tmp_path: Path) -> None:
        assert silent(hook(claude("translate the zebra brochure into Icelandic verses", indexed), cwd=tmp_path))

    def test_without_an_index_one_is_made_behind_it(self, tmp_path: Path) -> None:
        root = tmp_path / "shop"
        root.mkdir()
        (root / "invoice.py").write_text("def invoice_total(items):\n    '''The total of an invoice with tax.'''\n")
        assert silent(hook(claude("where is the invoice total with tax", root), cwd=tmp_path))
        until = time.monotonic() + 60
        while not (root / ".causalist" / "index.bin").exists() and time.monotonic() < until:
            time.sleep(0.1)
        assert (root / ".causalist" / "index.bin").exists()

    def test_without_an_index_one_is_made_by_the_process_of_a_question(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """There is one such process for a repository, whoever starts it."""
        monkeypatch.delenv(NO_BACKGROUND)
        started: list[Path] = []

        def start(root: Path, options: object) -> Build:
            started.append(root)
            return Build(os.getpid(), 1)

        monkeypatch.setattr(first_answer, "start_build", start)
        (tmp_path / "a.py").write_text("def price():\n    return 1\n")
        assert first_answer.begin_index(tmp_path) and started == [tmp_path]
        write_all(tmp_path, {"causalist.toml": "[index]\nbackground = false\n"})
        assert not first_answer.begin_index(tmp_path)
        (tmp_path / "causalist.toml").unlink()
        Repository.open(tmp_path, exact_root=True)
        assert not first_answer.begin_index(tmp_path) and started == [tmp_path]

    def test_a_damaged_index_is_no_index(self, indexed: Path, tmp_path: Path) -> None:
        root = tmp_path / "damaged"
        shutil.copytree(indexed, root)
        data = (root / ".causalist" / "index.bin").read_bytes()
        (root / ".causalist" / "index.bin").write_bytes(data[: len(data) // 2])
        assert silent(hook(claude(ASKED, root), cwd=tmp_path))

    @pytest.mark.parametrize("folder", ["/", "HOME", "nowhere", "a.txt"])
    def test_folders_that_are_refused(self, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        home = tmp_path / "home"
        home.mkdir()
        (tmp_path / "a.txt").write_text("")
        monkeypatch.setenv("HOME", str(home))
        path = home if folder == "HOME" else tmp_path / folder
        assert silent(hook(claude(ASKED, path), cwd=tmp_path))
        time.sleep(0.1)
        assert not (home / ".causalist").exists()

    @pytest.mark.parametrize(
        "arguments",
        [["hook"], ["hook", "nothing"], ["hook", "prompt", "--bogus"], ["hook", "prompt", "--deadline", "soon"],
         ["hook", "prompt", "--deadline", "-1"], ["hook", "--bogus"], ["hook", "prompt", "--repo", ""],
         ["hook", "prompt", "--deadline", "nan"], ["hook", "prompt", "extra"]],
    )  # fmt: skip
    def test_bad_usage(self, arguments: list[str], tmp_path: Path) -> None:
        done = run(*arguments, cwd=tmp_path, stdin=b'{"prompt": "where is the bearer token verified"}')
        assert silent(done)

    @pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
    @pytest.mark.parametrize("closed", ["0<&-", "1>&-", "0<&- 1>&- 2>&-", "1>/dev/full"])
    def test_closed_pipes(self, closed: str, indexed: Path) -> None:
        script = f'echo "$1" | "{sys.executable}" -P -m causalist hook prompt {closed}'
        done = subprocess.run(
            ["sh", "-c", script, "sh", json.dumps(claude(ASKED, indexed))],
            cwd=indexed, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, capture_output=True, timeout=60,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, b"")


CLUB = {
    kind: f'''"""Keeps the {kind}s of a club."""


class {kind.title()}:
    """One {kind} of the club."""


def load_{kind}(store, number):
    """Read a {kind} by its number."""
    return store.read("{kind}", number)


def save_{kind}(store, {kind}):
    """Write a {kind}, and tell each member of the board."""
    store.write("{kind}", {kind})
'''
    for kind in (
        "board",
        "card",
        "event",
        "fee",
        "invoice",
        "key",
        "member",
        "order",
        "plan",
        "session",
        "table",
        "token",
    )
}


@pytest.fixture
def unindexed(tmp_path: Path) -> Path:
    """Too much code to parse for one question, most of it about nothing."""
    body = "".join(f"def step_{n}(value):\n    return value + {n}\n\n\n" for n in range(200))
    others = {f"parts/part_{n:03}.py": f'"""Part {n}."""\n\n{body}' for n in range(400)}
    return write_all(tmp_path / "club", {**{f"club/{kind}s.py": CLUB[kind] for kind in CLUB}, **others})


class TestWithoutIndex:
    def test_a_part_answers_if_there_is_time(self, unindexed: Path, tmp_path: Path) -> None:
        done = hook(claude("where is a plan written to the store", unindexed), cwd=tmp_path)
        context = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
        assert re.search(r"partial: \d+ of 412 files are parsed yet\.", context) and "club/plans.py" in context

    @pytest.mark.parametrize("prompt", ["is the weather nice in Hamburg tomorrow", "yes, go on"])
    def test_what_is_not_its_business_stays_so(self, prompt: str, unindexed: Path, tmp_path: Path) -> None:
        assert silent(hook(claude(prompt, unindexed), cwd=tmp_path))

    def test_it_is_silent_without_time_for_a_part(self, unindexed: Path, tmp_path: Path) -> None:
        began = time.monotonic()
        done = run("hook", "prompt", "--deadline", "2", cwd=tmp_path,
                   stdin=json.dumps(claude("where is a plan written to the store", unindexed)).encode())  # fmt: skip
        assert silent(done) and time.monotonic() - began < AT_ONCE


OFF_TOPIC = [
    "make a birthday card for grandma, two lines, warm",
    "put this into Spanish: a member of the choir forgot her token",
    "plan a three day trip to Vienna with an evening of board games",
    "how is the weather in Hamburg tomorrow",
    "which table should the bride's parents sit at, and in what order do the guests speak",
    "what is the difference between a session and a token",
]
ON_TOPIC = [
    "who is told when a card is saved",
    "load_member reads the wrong number",
    "save a token only if its member is on the board",
    "where is a plan written to the store",
]


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_all(tmp_path_factory.mktemp("topic") / "club", {f"club/{kind}s.py": CLUB[kind] for kind in CLUB})
    Repository.open(root, exact_root=True)
    return root


class TestTopic:
    """A prompt is the business of a repository or it is not; one or two words in common do not decide it."""

    @pytest.mark.parametrize("prompt", OFF_TOPIC)
    def test_words_in_common_are_not_enough(self, prompt: str, club: Path, tmp_path: Path) -> None:
        assert silent(hook(claude(prompt, club), cwd=tmp_path))

    @pytest.mark.parametrize("prompt", ON_TOPIC)
    def test_questions_about_the_code_are_answered(self, prompt: str, club: Path, tmp_path: Path) -> None:
        assert "club/" in hook(claude(prompt, club), cwd=tmp_path).stdout

    def test_a_sample_of_the_sets(self, indexed: Path) -> None:
        """The sets in tests/benchmarks/hook, of which the benchmark measures the half that is not used for the fit."""
        off = random.Random(1).sample(topics.read_prompts("off_topic.txt"), 60)
        repository = open_stored_repository(indexed, indexed)
        assert repository is not None
        said = [prompt.text for prompt in off if topics.judge(repository, "", prompt, False, True).is_spoken]
        assert len(said) <= 3, said
        shares = []
        for sample in ("taskboard", "larder-shop", "lookout"):
            name = "on_topic.txt" if sample == "taskboard" else "on_topic_samples.txt"
            own = in_memory(indexed if sample == "taskboard" else CHECKOUT / "sample_repos" / sample)
            on = [prompt for prompt in topics.read_prompts(name) if prompt.heading == f"causalist/{sample}"]
            shares += [topics.judge(own, sample, prompt, True, True).is_spoken for prompt in on]
        assert len(shares) == 32 and sum(shares) >= 27


def test_a_long_prompt_costs_its_beginning() -> None:
    prompt = read_prompt(json.dumps({"prompt": "token " * 10_000}).encode(), {})
    assert prompt is not None and len(prompt.text) == MAX_PROMPT_CHARACTERS


@pytest.mark.parametrize(
    ("payload", "folder"),
    [
        ({"cwd": "/a", "workspace_roots": ["/b"]}, "/a"), ({"workspace_roots": ["/b", "/c"]}, "/b"),
        ({"cwd": "", "workspace_roots": []}, "/env"), ({"cwd": 7, "workspace_roots": "/b"}, "/env"),
        ({"cwd": "/a\0b"}, "/env"),
    ],
)  # fmt: skip
def test_where_the_folder_stands(payload: dict[str, Any], folder: str) -> None:
    prompt = read_prompt(json.dumps({"prompt": "x", **payload}).encode(), {"GEMINI_PROJECT_DIR": "/env"})
    assert prompt is not None and str(prompt.folder) == folder


def test_text_that_no_encoding_takes() -> None:
    prompt = read_prompt(b'{"prompt": "\\ud800 where", "hook_event_name": "UserPromptSubmit"}', {})
    assert prompt is not None and prompt.text == "? where"
    assert json.loads(render_context("é\x1b", "UserPromptSubmit"))["hookSpecificOutput"]["additionalContext"] == "é\x1b"


def random_input(seed: int) -> bytes:
    """Bytes, text, JSON of any shape, and hook inputs with one part changed."""
    rng = random.Random(seed)

    def value(depth: int = 0) -> object:
        kind = rng.randrange(9 if depth < 4 else 6)
        if kind < 6:
            text = "".join(rng.choices(string.printable + "é☃\u202e\ud800\x00", k=rng.randrange(40)))
            return [None, True, rng.randrange(-(2**70), 2**70), rng.random() * 1e300, text, float("nan")][kind]
        if kind == 6:
            return [value(depth + 1) for _ in range(rng.randrange(5))]
        names = ["prompt", "cwd", "hook_event_name", "workspace_roots", "x"]
        return {rng.choice(names): value(depth + 1) for _ in range(rng.randrange(6))}

    kind = rng.randrange(4)
    if kind == 0:
        return rng.randbytes(rng.randrange(3000))
    if kind == 1:
        return "".join(rng.choices(string.printable + '{}[]":,é☃', k=rng.randrange(2000))).encode()
    payload: dict[str, object] = {"hook_event_name": "UserPromptSubmit", "prompt": ASKED, "cwd": "/nowhere/at/all"}
    payload[rng.choice(["hook_event_name", "prompt", "cwd", "workspace_roots"])] = value()
    data = json.dumps(payload if kind == 2 else value()).encode()
    return data if rng.random() < 0.7 else data[: rng.randrange(len(data) + 1)]


def test_random_inputs_are_read_without_an_error() -> None:
    read = [prompt for seed in range(500) if (prompt := read_prompt(random_input(seed), {})) is not None]
    assert len(read) > 50
    for prompt in read:
        has_search_terms(prompt.text)
        json.loads(render_context(prompt.text, "UserPromptSubmit"))


def test_random_inputs_exit_0(tmp_path: Path) -> None:
    """A sample; `python -m tests.benchmarks.hook --random 500` runs all of them."""
    for seed in range(0, 500, 50):
        assert silent(hook(random_input(seed), cwd=tmp_path)), seed


WORK = """
import os, sys, time
from causalist.cli.hook import run_until

def work():
    {work}

start = time.monotonic()
out = run_until(start + {seconds}, work, 1000)
sys.stdout.write(repr((out, time.monotonic() - start < {seconds} + 5)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the deadline is soft where no process can be forked")
@pytest.mark.parametrize(
    ("work", "out"),
    [
        ("return b'done'", b"done"), ("return b''", b""), ("raise KeyError('deep inside')", b""),
        ("print('noise'); os.write(1, b'noise'); return b'done'", b"done"), ("os._exit(3)", b""),
        ("os.abort()", b""), ("return b'x' * 2000", b""), ("raise SystemExit(0)", b""), ("return 'text'", b""),
    ],
)  # fmt: skip
def test_what_work_may_do(work: str, out: bytes, tmp_path: Path) -> None:
    assert outcome_of(work, 30, tmp_path) == repr((out, True))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the deadline is soft where no process can be forked")
@pytest.mark.parametrize(
    "work",
    ["time.sleep(600)", "\n    while True: pass", "import re; re.match('(a+)+$', 'a' * 40 + 'b')",
     "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); time.sleep(600)"],
)  # fmt: skip
def test_work_that_does_not_end_is_ended(work: str, tmp_path: Path) -> None:
    """Also inside of a function of C that never gives the interpreter back."""
    assert outcome_of(work, 0.5, tmp_path) == repr((b"", True))


def outcome_of(work: str, seconds: float, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WORK.format(work=work, seconds=seconds)],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0 and "Traceback" not in done.stderr
    return done.stdout


def test_an_input_that_does_not_end(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "causalist", "hook", "prompt", "--deadline", "1"],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b'{"prompt": "where is the bearer token')
    process.stdin.flush()
    try:
        assert process.wait(AT_ONCE) == 0
        assert process.stdout.read() == b""
    finally:
        process.kill()


def test_a_deadline_in_the_past(indexed: Path, tmp_path: Path) -> None:
    payload = json.dumps(claude(ASKED, indexed)).encode()
    done = run("hook", "prompt", "--deadline", "0.01", cwd=tmp_path, stdin=payload)
    assert silent(done) and done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_interrupting(indexed: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "causalist", "hook", "prompt", "--deadline", "30"],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )  # fmt: skip
    time.sleep(1.5)  # it waits for its input by then
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=AT_ONCE)
    assert (process.returncode, out) == (0, b"")


def test_small_prompts_cost_no_heavy_import(tmp_path: Path) -> None:
    code = (
        "import io, os, sys\nfrom causalist.cli import main\n"
        "try:\n    main(['hook', 'prompt'])\n"
        "finally:\n    heavy = {'numpy', 'scipy', 'tree_sitter', 'filelock', 'pathspec'} & set(sys.modules)\n"
        "    os.write(2, repr(sorted(heavy)).encode())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b'{"prompt": "yes, go on"}', cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, capture_output=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"[]")
