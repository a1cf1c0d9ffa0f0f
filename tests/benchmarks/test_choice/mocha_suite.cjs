// Lines that each test of a mocha suite runs, as JSON in the form of coverage.py.
//
//     RUNS=runs.json npx nyc --reporter none --exclude-after-remap=false mocha --require mocha_suite.cjs test/
//
// The root hooks surround those of the suites, so that what prepares a test counts as part of it. A test is
// `FILE::GROUP::…::TITLE`; tests must not run at the same time.

const fs = require("node:fs");
const path = require("node:path");

const runs = {};
let before = {};

const counts = () => {
  const copy = {};
  for (const [file, each] of Object.entries(global.__coverage__ ?? {})) copy[file] = { ...each.s };
  return copy;
};

exports.mochaHooks = {
  beforeEach() {
    before = counts();
  },
  afterEach() {
    const test = this.currentTest;
    const name = [path.relative(process.cwd(), test.file), ...test.titlePath()].join("::");
    for (const [file, each] of Object.entries(global.__coverage__ ?? {})) {
      const place = path.relative(process.cwd(), file);
      const lines = (runs[place] ??= {});
      for (const [number, n] of Object.entries(each.s)) {
        if (n === (before[file]?.[number] ?? 0)) continue;
        (lines[each.statementMap[number].start.line] ??= new Set()).add(name);
      }
    }
  },
  afterAll() {
    const files = {};
    for (const [place, lines] of Object.entries(runs)) {
      const contexts = Object.fromEntries(Object.entries(lines).map(([line, names]) => [line, [...names].sort()]));
      files[place] = { executed_lines: Object.keys(lines).map(Number), missing_lines: [], contexts };
    }
    fs.writeFileSync(process.env.RUNS, JSON.stringify({ meta: { show_contexts: true }, files }));
  },
};
