// Imports of source files as node resolves them.
//
//     node npm_truth.cjs FOLDER/npm FOLDER/node > npm.jsonl
//
// FOLDER/npm has the packages, FOLDER/node/node_modules the same versions installed together. One JSON row for each
// literal of `require` and `import` that names a package: the package and file that node loads. Rows are like those of
// python_truth.py, without definitions.

"use strict";
const fs = require("fs");
const path = require("path");
const { createRequire, isBuiltin } = require("module");

const [root, installed] = process.argv.slice(2).map((each) => fs.realpathSync(each));
const modules = path.join(installed, "node_modules");
const LITERAL = /(?:\brequire\(\s*|\bimport\(\s*|\bfrom\s*|\bimport\s+)(["'])([^"'\n]+)\1/g;

function* packages(folder) {
  for (const name of fs.readdirSync(folder).sort()) {
    if (name.startsWith("@")) for (const below of fs.readdirSync(path.join(folder, name)).sort()) yield `${name}/${below}`;
    else yield name;
  }
}

function* sources(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* sources(place);
    else if (/\.[cm]?js$/.test(entry.name)) yield place;
  }
}

// Comments without those in strings, rows kept.
function plain(text) {
  return text.replace(/("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|\/\/[^\n]*|\/\*[^]*?\*\//g, (all, literal) =>
    literal ? literal : all.replace(/[^\n]/g, " "));
}

for (const name of packages(root)) {
  for (const file of sources(path.join(root, name))) {
    const text = plain(fs.readFileSync(file, "utf8"));
    const below = path.relative(path.join(root, name), file);
    const load = createRequire(path.join(modules, name, below));
    for (const match of text.matchAll(LITERAL)) {
      const module = match[2];
      if (module.startsWith(".") || module.startsWith("/") || module.startsWith("#") || isBuiltin(module)) continue;
      const row = { package: name, path: below, line: text.slice(0, match.index).split("\n").length, module, name: "" };
      let found = "";
      try {
        found = fs.realpathSync(load.resolve(module));
      } catch {
        console.log(JSON.stringify({ ...row, state: "absent" }));
        continue;
      }
      const below_modules = found.slice(modules.length + 1);
      const at = below_modules.lastIndexOf(`node_modules${path.sep}`);
      const parts = below_modules.slice(at < 0 ? 0 : at + 13).split(path.sep);
      const owner = parts[0].startsWith("@") ? parts.slice(0, 2).join("/") : parts[0];
      // Another version, installed below a package of its own, is no member.
      const state = owner === name ? "own" : at < 0 ? "found" : "open";
      console.log(JSON.stringify({ ...row, state, distribution: owner, file: parts.slice(owner.split("/").length).join("/") }));
    }
  }
}
