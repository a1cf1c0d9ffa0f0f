// Builds the .vsix: the page of the documentation is its README, and the licence is that of the project.
import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const VSCE = "@vscode/vsce@4.1.0";
const SITE = "https://github.com/causalist/causalist";
const PAGES = ["--baseContentUrl", `${SITE}/blob/main/docs/editors`, "--baseImagesUrl", `${SITE}/raw/main/docs/editors`];
const folder = fileURLToPath(new URL(".", import.meta.url));
const copies = { "../vscode.md": "README.md", "../../../LICENSE": "LICENSE" };
try {
  for (const [from, to] of Object.entries(copies)) copyFileSync(new URL(from, import.meta.url), new URL(to, import.meta.url));
  execFileSync("npx", ["--yes", VSCE, "package", "--no-dependencies", ...PAGES, ...process.argv.slice(2)], {
    cwd: folder,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
} finally {
  for (const name of Object.values(copies)) rmSync(new URL(name, import.meta.url), { force: true });
}
