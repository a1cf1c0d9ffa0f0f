/* The recorder inside of an observed Node process: which functions of the repository ran, in which test, and who called.

Loaded by NODE_OPTIONS=--require in each process and worker thread. It imports nothing but modules of Node and writes
lines as recorder.py does, the CRC-32 of a JSON list and the list, into `<process>-<thread>-<time>.rec`. Rows:

- ["c", number, file, first line, name, 0] a function; its line is that of the source file, by the source map if any
- ["s", caller, callee, direct, through, 0] a pair that was seen on a sampled stack, 1 for each process
- ["w", [number, ...]] what ran between two borders of tests, of which one test is named by its own function
- ["r", [number, ...]] what ran at all

Counts of functions are exact (precise coverage of V8). Pairs are samples: what is short or rare is not among them. */
"use strict";

const fs = require("fs");
const path = require("path");
const { fileURLToPath } = require("url");
const inspector = require("inspector");
const Module = require("module");
let threadId = 0;
try {
  threadId = require("worker_threads").threadId;
} catch (error) {
  /* built without threads */
}

const INTERVAL_MICROSECONDS = 250; // between two samples of the stack
const FIRST_PAUSE_MILLISECONDS = 100; // until something is written first; each pause is twice as long, up to the longest
const MAX_PAUSE_MILLISECONDS = 1000;

const folder = path.dirname(__dirname);
const [root, ...names] = fs.readFileSync(path.join(folder, "files.txt"), "utf8").split("\0");
const wanted = new Set(names);
const file = path.join(folder, `${process.pid}-${threadId}-${Date.now().toString(16)}.rec`);

const table = new Int32Array(256).map((_, i) => {
  for (let k = 0; k < 8; k++) i = i & 1 ? (i >>> 1) ^ 0xedb88320 : i >>> 1;
  return i;
});

function crc32(data) {
  let crc = -1;
  for (const byte of data) crc = table[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ((crc ^ -1) >>> 0).toString(16).padStart(8, "0");
}

function write(rows) {
  if (!rows.length) return;
  const text = JSON.stringify(rows).replace(/[\u007f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  const data = Buffer.from(text, "ascii");
  fs.appendFileSync(file, Buffer.concat([Buffer.from(`${crc32(data)} `), data, Buffer.from("\n")]));
}

// -- scripts and their places

const session = new inspector.Session();
try {
  session.connect();
} catch (error) {
  return; // the process of `node --test` that starts the others has no inspector
}

function post(method, parameters) {
  let found;
  session.post(method, parameters, (error, result) => {
    found = error ? undefined : result; // called before `post` returns
  });
  return found;
}

const scripts = new Map(); // by id: {path, map, starts of lines}

function relative(url) {
  let name = url;
  if (url.startsWith("file:")) {
    try {
      name = fileURLToPath(url);
    } catch (error) {
      return "";
    }
  }
  if (!path.isAbsolute(name)) return "";
  try {
    name = fs.realpathSync.native(name);
  } catch (error) {
    return "";
  }
  const inside = path.relative(root, name).split(path.sep).join("/");
  return wanted.has(inside) ? inside : "";
}

function addScript({ scriptId, url, sourceMapURL }) {
  if (scripts.has(scriptId)) return;
  const found = url && !url.startsWith("node:") ? relative(url) : "";
  scripts.set(scriptId, found ? { path: found, url, sourceMapURL, source: null } : null);
}

function load(script, scriptId) {
  const result = post("Debugger.getScriptSource", { scriptId });
  const source = result ? result.scriptSource : "";
  script.starts = [0];
  for (let i = source.indexOf("\n"); i >= 0; i = source.indexOf("\n", i + 1)) script.starts.push(i + 1);
  script.source = source;
  script.map = null;
  script.isSame = false;
  try {
    const original = fs.readFileSync(path.join(root, script.path), "utf8");
    script.isSame = original === source || original.replace(/^\ufeff/, "").replace(/^#!.*/, "") === source.replace(/^#!.*/, "");
    if (!script.isSame && script.sourceMapURL) script.map = readMap(script);
  } catch (error) {
    /* without a map, functions are known by their names */
  }
}

function readMap(script) {
  const inline = /^data:application\/json[^,]*?(;base64)?,(.*)$/s.exec(script.sourceMapURL);
  const text = inline
    ? inline[1] ? Buffer.from(inline[2], "base64").toString() : decodeURIComponent(inline[2])
    : fs.readFileSync(path.resolve(path.dirname(path.join(root, script.path)), script.sourceMapURL), "utf8");
  return Module.SourceMap ? new Module.SourceMap(JSON.parse(text)) : null;
}

function placeAt(script, line, column) {
  if (script.isSame) return [script.path, line + 1];
  if (script.map) {
    const entry = script.map.findEntry(line, column);
    if (entry && entry.originalSource !== undefined) {
      const source = entry.originalSource.startsWith("file:")
        ? entry.originalSource
        : path.resolve(path.dirname(path.join(root, script.path)), entry.originalSource);
      const found = relative(source) || (path.basename(source) === path.basename(script.path) ? script.path : "");
      if (found) return [found, entry.originalLine + 1];
    }
    return null;
  }
  return [script.path, 0]; // translated, nobody says from where
}

function lineOf(starts, offset) {
  let low = 0, high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= offset) low = middle;
    else high = middle;
  }
  return low;
}

const numbers = new Map();
let rows = [];

function numberOf(scriptId, line, column, name) {
  const script = scripts.get(scriptId);
  if (!script) return -1;
  if (script.source === null) load(script, scriptId);
  const place = placeAt(script, line, column);
  if (place === null) return -1;
  const key = `${place[0]}\0${place[1]}\0${name}`;
  let number = numbers.get(key);
  if (number === undefined) {
    number = numbers.size;
    numbers.set(key, number);
    rows.push(["c", number, place[0], place[1], name, 0]);
  }
  return number;
}

// -- what ran

const ran = new Set();

function takeCoverage() {
  const found = new Set();
  const taken = post("Profiler.takePreciseCoverage");
  for (const { scriptId, functions } of taken ? taken.result : []) {
    const script = scripts.get(scriptId);
    if (!script) continue;
    if (script.source === null) load(script, scriptId);
    for (const { functionName, ranges } of functions) {
      const { startOffset, endOffset, count } = ranges[0];
      if (!count || (startOffset === 0 && endOffset >= script.source.length)) continue; // the file itself
      const line = lineOf(script.starts, startOffset);
      const number = numberOf(scriptId, line, startOffset - script.starts[line], functionName);
      if (number >= 0) found.add(number);
    }
  }
  return found;
}

function endWindow(isTest) {
  const found = takeCoverage();
  const fresh = [...found].filter((number) => !ran.has(number));
  for (const number of found) ran.add(number);
  if (isTest && found.size) rows.push(["w", [...found]]);
  if (fresh.length) rows.push(["r", fresh]);
}

// -- who called

const pairs = new Set();

function takeSamples() {
  const taken = post("Profiler.stop");
  const nodes = taken ? taken.profile.nodes : [];
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const root = nodes[0];
  const stack = root ? [[root, -1, false]] : [];
  while (stack.length) {
    const [node, above, isDirect] = stack.pop();
    const { scriptId, url, lineNumber, columnNumber, functionName } = node.callFrame;
    let caller = above, direct = isDirect;
    const isFile = functionName === "" && lineNumber === 0 && columnNumber === 0;
    const number = scripts.get(scriptId) && lineNumber >= 0 && !isFile
      ? numberOf(scriptId, lineNumber, Math.max(columnNumber, 0), functionName) : -1;
    if (number >= 0) {
      const key = `${above},${number},${direct ? 1 : 0}`;
      if (above >= 0 && !pairs.has(key)) {
        pairs.add(key);
        rows.push(["s", above, number, direct ? 1 : 0, direct ? 0 : 1, 0]);
      }
      caller = number;
      direct = true;
    } else if (url || (functionName && !functionName.startsWith("("))) {
      direct = false; // code from elsewhere in between
    }
    for (const id of node.children || []) stack.push([byId.get(id), caller, direct]);
  }
}

function startSampling() {
  post("Profiler.setSamplingInterval", { interval: INTERVAL_MICROSECONDS });
  post("Profiler.start");
}

function flush(isLast) {
  try {
    endWindow(false);
    takeSamples();
    if (!isLast) startSampling();
    const found = rows;
    rows = [];
    write(found);
  } catch (error) {
    /* the program is not ours */
  }
}

// -- borders of tests

let isInTest = false;

function beginTest() {
  try {
    endWindow(false);
    isInTest = true;
  } catch (error) {
    /* the program is not ours */
  }
}

function endTest() {
  try {
    endWindow(isInTest);
    isInTest = false;
  } catch (error) {
    /* the program is not ours */
  }
}

function watchNodeTest() {
  // Children of a test inherit its environment, and the first use of the module makes a process write results.
  const main = process.argv[1];
  if (!process.env.NODE_TEST_CONTEXT || !main || !/["'`]node:test["'`]/.test(fs.readFileSync(main, "utf8"))) return;
  const test = require("node:test");
  test.beforeEach(beginTest);
  test.afterEach(endTest);
}

function watchLoading() {
  const original = Module._load;
  Module._load = function load(request) {
    const found = original.apply(this, arguments);
    try {
      if (typeof request === "string" && /(^|[\\/])runner(\.js)?$/.test(request)) watchMocha((found && found.Runner) || found);
      if (typeof request === "string" && /jest-environment-(node|jsdom)/.test(request)) watchJest(found);
    } catch (error) {
      /* another version than those that are known */
    }
    return found;
  };
}

const watched = new WeakSet();

function watchMocha(runner) {
  const prototype = runner && runner.prototype;
  if (!prototype || typeof prototype.runTest !== "function" || typeof prototype.runTests !== "function") return;
  if (watched.has(prototype)) return;
  watched.add(prototype);
  const runTest = prototype.runTest;
  prototype.runTest = function (done) {
    beginTest();
    return runTest.call(this, function () {
      endTest();
      return done.apply(this, arguments);
    });
  };
}

function watchJest(loaded) {
  const environment = loaded && (loaded.TestEnvironment || loaded.default || loaded);
  const prototype = environment && environment.prototype;
  if (!prototype || watched.has(prototype)) return;
  watched.add(prototype);
  const before = prototype.handleTestEvent;
  prototype.handleTestEvent = async function (event, state) {
    if (event.name === "test_start") beginTest();
    if (event.name === "test_done") endTest();
    return before ? before.call(this, event, state) : undefined;
  };
}

// The runner of vitest is an ES module, which only a hook of the loader reaches. It puts a module before it that gives
// the same names, of which `startTests` hands its runner over.
const VITEST = Symbol.for("causalist.vitest");
const IS_RUNNER = /[\\/]@vitest[\\/]runner[\\/]dist[\\/]index\.js$/;

function wrapVitest(url) {
  const own = JSON.stringify(`${url}?causalist`);
  return (
    `import { startTests as start } from ${own};\nexport * from ${own};\n` +
    `export function startTests(specs, runner) {\n` +
    `  globalThis[Symbol.for("causalist.vitest")]?.(runner);\n  return start(specs, runner);\n}\n`
  );
}

function watchVitest() {
  const started = [process.argv[1] || "", ...process.execArgv]; // a worker thread of vitest has no script
  if (!started.some((each) => /(^|[\\/])vitest([\\/.]|$)/.test(each))) return; // hooks take time in each process
  globalThis[VITEST] = watchRunner;
  const answer = (url) => ({ format: "module", source: wrapVitest(url), shortCircuit: true });
  if (typeof Module.registerHooks === "function") {
    Module.registerHooks({ load: (url, context, next) => (IS_RUNNER.test(url) ? answer(url) : next(url, context)) });
  } else if (typeof Module.register === "function") {
    const hook =
      `const IS_RUNNER = ${IS_RUNNER};\n${wrapVitest}\nconst answer = ${answer};\n` +
      `export async function load(url, context, next) { return IS_RUNNER.test(url) ? answer(url) : next(url, context); }`;
    Module.register(`data:text/javascript,${encodeURIComponent(hook)}`);
  }
}

function watchRunner(runner) {
  if (!runner || watched.has(runner)) return;
  watched.add(runner);
  const { onBeforeRunTask: before, onAfterRunTask: after, onAfterRunFiles: last } = runner;
  runner.onBeforeRunTask = async function () {
    if (before) await before.apply(this, arguments);
    beginTest();
  };
  runner.onAfterRunTask = function () {
    endTest();
    return after && after.apply(this, arguments);
  };
  runner.onAfterRunFiles = function () {
    flush(false); // threads are ended without a word
    return last && last.apply(this, arguments);
  };
}

function flushAfter(pause) {
  setTimeout(() => {
    if (!isInTest) flush(false);
    flushAfter(Math.min(2 * pause, MAX_PAUSE_MILLISECONDS));
  }, pause).unref();
}

function flushAndEnd() {
  flush(false);
  if (process.listenerCount("SIGTERM") === 1) {
    process.removeListener("SIGTERM", flushAndEnd);
    process.kill(process.pid, "SIGTERM"); // nobody else asked for it, so that it ends the process
  }
}

// --

try {
  session.on("Debugger.scriptParsed", ({ params }) => addScript(params));
  post("Debugger.enable");
  post("Profiler.enable");
  post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  startSampling();
  watchLoading();
  watchVitest();
  process.on("exit", () => flush(true));
  flushAfter(FIRST_PAUSE_MILLISECONDS);
  process.on("SIGTERM", flushAndEnd); // runners of tests end their workers so
  watchNodeTest();
} catch (error) {
  process.stderr.write(`causalist observe: not recorded: ${error}\n`);
}
