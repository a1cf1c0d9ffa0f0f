// Check every regular expression of the project with recheck, a second analyser beside tests/project/ambiguity.py.
//
//     python -m tests.project.expressions --json | node .ci/recheck.mjs | python -m tests.project.expressions --attacks
//
// recheck (https://makenowjust-labs.github.io/recheck/) reads JavaScript, so each expression is rewritten as far as the two
// dialects differ. What has no counterpart there, such as a possessive part, is counted and left to the other analyser.
// Prints what recheck takes for vulnerable, each with a text that shows it, as JSON. It counts steps of JavaScript and
// knows no time, so Python measures these texts at last.
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
const found = [];
let skipped = 0;
let unknown = 0;
for (const expression of expressions) {
  const converted = toJavaScript(expression.pattern, expression.flags);
  if (!converted) {
    skipped += 1;
    continue;
  }
  const result = await check(converted[0], converted[1], { timeout: 5_000 });
  if (result.status === "unknown") unknown += 1;
  if (result.status === "vulnerable") found.push({ ...expression, attack: result.attack.string });
}
console.error(
  `${expressions.length} expressions: ${found.length} with an attack, ${unknown} not decided in time, ` +
    `${skipped} that JavaScript cannot express`,
);
process.stdout.write(JSON.stringify(found), () => process.exit(0));
