// Check every regular expression of the project with recheck, a second analyser beside tests/project/ambiguity.py.
//
//     python -m tests.project.expressions --json | node .ci/recheck.mjs
//
// recheck (https://makenowjust-labs.github.io/recheck/) reads JavaScript, so each expression is rewritten as far as the two
// dialects differ. What has no counterpart there, such as a possessive part, is counted and left to the other analyser.
// Exits with 1 if an expression can take exponential time.
import { readFileSync } from "node:fs";
import { check } from "recheck";

function toJavaScript(pattern, flags) {
  let source = pattern;
  if (flags.verbose) return null;
  if (/[*+?}]\+|\(\?>|\(\?\(/.test(source.replace(/\\./g, "").replace(/\[[^\]]*\]/g, ""))) return null;
  source = source.replace(/\(\?P</g, "(?<").replace(/\(\?P=(\w+)\)/g, "\\k<$1>");
  source = source.replace(/\\A/g, "^").replace(/\\Z/g, "$").replace(/^\(\?[aiLmsux]+\)/, "");
  const letters = (flags.ignorecase ? "i" : "") + (flags.multiline ? "m" : "") + (flags.dotall ? "s" : "");
  try {
    new RegExp(source, letters);
  } catch {
    return null;
  }
  return [source, letters];
}

const expressions = JSON.parse(readFileSync(0, "utf-8"));
if (!expressions.length) throw new Error("no expression was given");
const wrong = [];
let skipped = 0;
let unknown = 0;
for (const { pattern, flags, places, justified } of expressions) {
  const converted = toJavaScript(pattern, flags);
  if (!converted) {
    skipped += 1;
    continue;
  }
  const result = await check(converted[0], converted[1], { timeout: 5_000 });
  if (result.status === "unknown") unknown += 1;
  if (result.status === "vulnerable" && result.complexity.type === "exponential" && !justified) {
    wrong.push(`${places.join(", ")}: /${pattern}/: exponential: ${JSON.stringify(result.attack?.string?.slice(0, 200))}`);
  }
}
for (const line of wrong) console.log(line);
console.log(
  `${expressions.length} expressions: ${wrong.length} exponential, ${unknown} not decided in time, ` +
    `${skipped} that JavaScript cannot express`,
);
process.exit(wrong.length ? 1 : 0);
