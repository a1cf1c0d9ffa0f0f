"""What is recorded of JavaScript and TypeScript: samples of calls, and what each test ran."""

import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from causalist import Repository
from causalist.observe import begin_run, read_run
from causalist.observe.command_runs import ObservedCalls
from tests.cli.commands import invoke, write_all
from tests.observe.programs import named_calls, observe, store_of

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("node") is None, reason="no Node on this system")]

CART = """class Cart {
  constructor() { this.items = []; }
  add(item) { this.items.push(item); return this; }
  total() {
    return this.items.reduce((sum, item) => sum + price(item), 0);
  }
}
function price(item) { return wait(item.cost); }
const wait = (cost) => {
  let n = 0;
  for (let i = 0; i < 1e8; i++) n += i % 3;
  return n > 0 ? cost : 0;
};
function unused() { return 1; }
module.exports = { Cart, price, wait, unused };
"""
TESTS = """const { test, describe, it } = require('node:test');
const assert = require('node:assert');
const { Cart, wait } = require('../src/cart.js');

test('adds items', () => {
  assert.equal(new Cart().add({ cost: 1 }).items.length, 1);
});

describe('totals', () => {
  it('sums prices', async () => {
    await null;
    assert.equal(new Cart().add({ cost: 2 }).total(), 2);
  });
  it('waits', () => { assert.equal(wait(3), 3); });
});
"""
MAIN = """const { Cart } = require('./src/cart.js');
const { Worker, isMainThread } = require('worker_threads');
const { spawnSync } = require('child_process');

function sell() { return new Cart().add({ cost: 1 }).total(); }
function begin() {
  if (!isMainThread) return sell();
  if (process.argv[2]) return sell();
  spawnSync(process.execPath, [__filename, 'child']);
  new Worker(__filename);
}
begin();
"""
C, T = "src/cart.js::", "test/cart.test.js::"
# By hand. Samples show some of them; those of `wait`, which counts for about a tenth of a second, always.
TRUE_PAIRS = {
    ("main.js::sell", f"{C}Cart.constructor"),
    ("main.js::sell", f"{C}Cart.add"),
    ("main.js::sell", f"{C}Cart.total"),
    ("main.js::begin", "main.js::sell"),
    (f"{C}Cart.total", f"{C}price"),
    (f"{C}price", f"{C}wait"),
}


@pytest.fixture
def cart(tmp_path: Path) -> Path:
    return write_all(tmp_path, {"src/cart.js": CART, "test/cart.test.js": TESTS, "main.js": MAIN})


def test_samples_in_threads_and_processes(cart: Path) -> None:
    found = observe(cart, "main.js", python="node")
    pairs = named_calls(cart, found)
    hot = TRUE_PAIRS - {("main.js::sell", f"{C}Cart.constructor"), ("main.js::sell", f"{C}Cart.add")}
    assert hot <= pairs.keys() and {pair for pair in pairs if pair[1] != "main.js::begin"} <= TRUE_PAIRS
    assert pairs[f"{C}price", f"{C}wait"] == (2, 0)  # once in the thread, once in the child
    assert not found.n_runs  # how often it ran is not known, so that no call is lowered


def test_what_each_test_of_node_ran(cart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cart)
    assert invoke("observe", "--", "node", "--test", "test/").code == 0
    ran = {test: {each.id for each in versions} for test, (_, versions) in store_of(cart).tests.items()}
    assert ran == {
        f"{T}test adds items": {f"{C}Cart.constructor", f"{C}Cart.add"},
        f"{T}describe totals.it sums prices": {
            f"{C}Cart.constructor", f"{C}Cart.add", f"{C}Cart.total", f"{C}price", f"{C}wait"
        },
        f"{T}describe totals.it waits": {f"{C}wait"},
    }  # fmt: skip
    document = json.loads(invoke("tests", "price", "--json").stdout)
    assert [(each["node"], each["probability"]) for each in document["tests"]] == [
        (f"{T}describe totals.it sums prices", 1.0)
    ]
    write_all(cart, {"src/cart.js": CART.replace("return wait(item.cost)", "return wait(+item.cost)")})
    (stale,) = (
        each for each in json.loads(invoke("tests", "price", "--json").stdout)["tests"] if "sums" in each["node"]
    )
    assert stale["probability"] < 1.0
    assert "stale" in invoke("callers", "price").stderr


def test_options_of_node_are_kept_and_only_set_where_there_is_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--max-old-space-size=300")
    show = "import os; open('options.txt', 'w').write(os.environ['NODE_OPTIONS'])"
    root = write_all(tmp_path / "with space", {"show.py": show})
    observe(root, "show.py")
    assert (root / "options.txt").read_text() == "--max-old-space-size=300"
    write_all(root, {"a.js": "function f() { return process.execArgv; }\nf();\n"})
    observe(root, "show.py")
    kept, option, path = (root / "options.txt").read_text().split(" ", 2)
    assert (kept, option, Path(json.loads(path)).name) == ("--max-old-space-size=300", "--require", "recorder.cjs")
    observe(root, "a.js", python="node")


def test_a_program_that_a_test_starts_writes_what_it_always_does(cart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "const { Cart } = require('../src/cart.js');\nconsole.log(new Cart().add({}).items.length);\n"
    tests = (
        TESTS
        + """
test('starts a program', () => {
  const { execFileSync } = require('node:child_process');
  assert.equal(execFileSync(process.execPath, [__dirname + '/program.js'], { encoding: 'utf8' }), '1\\n');
});
"""
    )
    monkeypatch.chdir(write_all(cart, {"test/program.js": program, "test/cart.test.js": tests}))
    assert invoke("observe", "--", "node", "--test", "test/cart.test.js").code == 0


def _recorded(root: Path, rows: list[list[object]]) -> ObservedCalls:
    repository = Repository.open(root, exact_root=True)
    run = begin_run(root / ".causalist", root, repository.index, ["node"])
    data = json.dumps(rows).encode()
    (run.folder / "1-0-1.rec").write_bytes(b"%08x %s\n" % (zlib.crc32(data), data))
    return read_run(run, repository.index)


def test_functions_are_found_by_line_and_name_or_by_a_name_that_one_has(tmp_path: Path) -> None:
    code = "class A {\n  get size() { return this.#n(); }\n  #n() { return [1].map((x) => x); }\n  twin() {}\n}\n"
    code += "class B {\n  constructor() {}\n  twin() {}\n}\nexports.one = function () { return new B(); };\n"
    root = write_all(tmp_path, {"a.ts": code})
    rows: list[list[object]] = [
        ["c", 0, "a.ts", 2, "get size", 0],
        ["c", 1, "a.ts", 3, "#n", 0],
        ["c", 2, "a.ts", 3, "", 0],  # a part of #n
        ["c", 3, "a.ts", 7, "B", 0],
        ["c", 4, "a.ts", 0, "twin", 0],  # of a translated file: two have that name
        ["c", 5, "a.ts", 0, "one", 0],
        ["s", 0, 1, 1, 0, 0],
        ["s", 1, 2, 1, 0, 0],
        ["s", 5, 3, 1, 0, 0],
        ["s", 5, 4, 1, 0, 0],
    ]
    pairs = named_calls(root, _recorded(root, rows)).keys()
    assert ("a.ts::A.size", "a.ts::A.#n") in pairs or ("a.ts::A.size", "a.ts::A.n") in pairs
    assert any(target == "a.ts::B.constructor" for _, target in pairs)
    assert not any("twin" in target for _, target in pairs) and len(pairs) == 2


def test_a_terminated_process_loses_nothing_that_was_written(cart: Path) -> None:
    write_all(cart, {"loop.js": "const { wait } = require('./src/cart.js');\nfunction f() { wait(1); }\nf();\n"
                     "setTimeout(() => console.log('ready'), 400);\nsetInterval(() => {}, 1000);\n"})  # fmt: skip
    repository = Repository.open(cart, exact_root=True)
    run = begin_run(cart / ".causalist", cart, repository.index, ["node", "loop.js"])
    options = f"--require {json.dumps(str(run.folder / 'inject' / 'recorder.cjs'))}"
    environment = os.environ | {"NODE_OPTIONS": options}
    with subprocess.Popen(["node", "loop.js"], cwd=cart, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.kill()
    assert ("loop.js::f", f"{C}wait") in named_calls(cart, read_run(run, repository.index))
    assert sys.platform == "win32" or process.returncode == -9


RUNNER = """export async function startTests(files, runner) {
  for (const file of files) for (const task of file) {
    await runner.onBeforeRunTask(task);
    await task.run();
    await runner.onAfterRunTask(task);
  }
  await runner.onAfterRunFiles?.(files);
}
export const other = 1;
"""
STARTER = """import { other, startTests } from '@vitest/runner';
import { Worker, isMainThread } from 'node:worker_threads';
import { it, tasks } from './test/sums.test.js';

const runner = { onBeforeRunTask() {}, onAfterRunTask() {} };
if (isMainThread && process.argv[2] === 'thread') {
  const execArgv = ['--require', './node_modules/vitest/quiet.cjs'];
  const worker = new Worker(new URL(import.meta.url), { argv: [], execArgv });
  await new Promise((done) => worker.on('exit', done));
} else if (other === 1) {
  await startTests([tasks], runner);
  if (!isMainThread) process.exit();
}
"""
SUMS = """export function double(x) {
  return x * 2;
}
export function triple(x) {
  return x * 3;
}
"""
SUMS_TESTS = """import { double, triple } from '../src/sums.js';
export const tasks = [];
export function it(name, run) { tasks.push({ name, run }); }
it('doubles', () => {
  double(2);
});
it('triples', async () => {
  await null;
  triple(2);
});
"""


@pytest.mark.parametrize("pool", ["process", "thread"])
def test_tests_of_vitest_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: str) -> None:
    """The runner is a stand-in with the interface of `@vitest/runner`, so that nothing is installed."""
    package = {"name": "@vitest/runner", "version": "4.0.0", "type": "module", "exports": "./dist/index.js"}
    root = write_all(
        tmp_path,
        {
            "package.json": '{"type": "module"}', ".gitignore": "node_modules\n", "vitest.mjs": STARTER,
            "src/sums.js": SUMS, "test/sums.test.js": SUMS_TESTS,
            "node_modules/vitest/quiet.cjs": "",
            "node_modules/@vitest/runner/package.json": json.dumps(package),
            "node_modules/@vitest/runner/dist/index.js": RUNNER,
        },
    )  # fmt: skip
    monkeypatch.chdir(root)
    assert invoke("observe", "--", "node", "vitest.mjs", *(("thread",) if pool == "thread" else ())).code == 0
    ran = {test: {each.id for each in versions} for test, (_, versions) in store_of(root).tests.items()}
    tests, sums = "test/sums.test.js::it ", "src/sums.js::"
    assert ran == {f"{tests}doubles": {f"{sums}double"}, f"{tests}triples": {f"{sums}triple"}}
