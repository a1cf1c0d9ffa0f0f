"""Pages of the documentation site that are not in docs/, and links that leave it.

mkdocs loads this file as a hook (mkdocs.yml). It adds the pages of the checkout that the site shows as well, and a page
of docstrings. Links to other files of the checkout lead to the repository on GitHub.
"""

import ast
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
API = "api.md"
LLMS = "llms.txt"  # a list of the pages for language models, as https://llmstxt.org has it
# Pages of the site that are made of files outside of docs/.
SHOWN = {"start.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}

_FIRST = ("README.md", "index.md")

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_LINK = re.compile(r"(\]\(<?)([^)\s>]+)(>?(?:\s+\"[^\"]*\")?\))")
_CODE_SPAN = re.compile(r"(`+)(?:.*?[^`])?\1(?!`)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace each folder in the list of pages by its pages."""
    config.nav = expanded(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    for name, source in SHOWN.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text(encoding="utf-8")))
    files.append(File.generated(config, API, content=api_page()))
    files.append(File.generated(config, LLMS, content=llms_text(config.nav, str(config.site_url))))
    for file in files:
        # The sources of an extension lie beside its page and are no part of the site.
        if "node_modules" in Path(file.src_uri).parts:
            file.inclusion = InclusionLevel.EXCLUDED
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with links that work on the site."""
    source = SHOWN.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    return with_links(markdown, source, page.file.src_uri, str(config.repo_url))


def expanded(nav: Any) -> Any:
    """Return a list of pages in which the pages of a folder stand for the folder.

    >>> expanded(["a.md", {"B": ["c.md"]}])
    ['a.md', {'B': ['c.md']}]
    """
    if isinstance(nav, list):
        return [expanded(each) for each in nav]
    if isinstance(nav, dict):
        return {title: expanded(each) for title, each in nav.items()}
    if isinstance(nav, str) and nav.endswith("/"):
        return [f"{nav}{name}" for name in names_in(DOCS / nav)]
    return nav


def llms_text(nav: Any, site_url: str) -> str:
    """Return the list of pages for language models: a line for each, with its title and its first sentence."""
    lines = ["# Causalist", "", "> Answers questions about a code base with the code itself.", ""]
    for section in nav:
        ((title, entries),) = section.items()
        lines += [f"## {title}", ""]
        for page in _pages_of(entries):
            heading, about = _head_of(page)
            address = f"{site_url}{page.removesuffix('.md').removesuffix('index')}"
            lines.append(f"- [{heading}]({address}{'' if address.endswith('/') else '/'}){about and f': {about}'}")
        lines.append("")
    return "\n".join(lines)


def _pages_of(entries: Any) -> list[str]:
    if isinstance(entries, str):
        return [entries]
    values = entries.values() if isinstance(entries, dict) else entries
    return [page for each in values for page in _pages_of(each)]


def _head_of(page: str) -> tuple[str, str]:
    """Return the title of a page and the first sentence of its first paragraph, without markup."""
    text = api_page() if page == API else (ROOT / SHOWN.get(page, f"docs/{page}")).read_text(encoding="utf-8")
    heading, _, rest = text.partition("\n")
    paragraphs = (each.replace("\n", " ").strip() for each in rest.split("\n\n"))
    first = next((each for each in paragraphs if re.match(r"[^\W\d]|[*\[]|`(?!``)", each)), "")
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", first).replace("*", "")
    return heading.lstrip("# ").strip(), re.split(r"(?<=\.)\s", plain)[0].rstrip(".:")


def names_in(folder: Path) -> list[str]:
    """Return the names of the pages of a folder, first the one that introduces it if there is one."""
    return sorted((page.name for page in folder.glob("*.md")), key=lambda name: (name not in _FIRST, name))


def with_links(markdown: str, source: str, name: str, repository: str) -> str:
    """Return a page with its links outside of code changed so that they lead on from the site.

    `source` is the page's file in the checkout and `name` its file on the site.
    """

    def changed(match: re.Match[str]) -> str:
        return match[1] + link_from(match[2], source, name, repository) + match[3]

    lines, fence = [], ""
    for line in markdown.splitlines(keepends=True):
        matched = _FENCE.match(line)
        if matched and not fence:
            fence = matched[1]
        elif matched and matched[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence:
            line = "".join(_code(part) if is_code else _LINK.sub(changed, part) for part, is_code in _parts(line))
        lines.append(line)
    return "".join(lines)


def link_from(link: str, source: str, name: str, repository: str) -> str:
    """Return where a link of a page leads on the site: to another page, or to the repository on GitHub.

    A folder of pages has no page of its own on the site: its first page stands for it.
    """
    path, hash_mark, anchor = link.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if target.startswith("docs/") and (names := names_in(ROOT / target)):
        target = f"{target}/{names[0]}"
    pages = {file: page for page, file in SHOWN.items()}
    if target in pages or (target.startswith("docs/") and target.endswith((".md", ".svg", ".png"))):
        on_site = pages.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(on_site, posixpath.dirname(name) or ".") + hash_mark + anchor
    kind = "tree" if (ROOT / target).is_dir() else "blob"
    return f"{repository}/{kind}/main/{target}{hash_mark}{anchor}"


def api_page() -> str:
    """Return the page of docstrings: one entry for each public name of the package."""
    tree = ast.parse((ROOT / "causalist" / "__init__.py").read_text(encoding="utf-8"))
    (names,) = (
        ast.literal_eval(each.value)
        for each in tree.body
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and each.targets[0].id == "__all__"
    )
    entries = "".join(f"::: causalist.{name}\n\n" for name in names)
    about = "The public names, from their docstrings. [From Python](python.md) shows how they are used."
    return f"# API\n\n{about}\n\n{entries}"


def _code(span: str) -> str:
    """Return a code span that mkdocs can read. Its search for anchors takes `<!` for a declaration and fails."""
    if "<!" not in span:
        return span
    inside = span.strip("`").strip()
    return f"<code>{''.join(each if each.isalnum() else f'&#{ord(each)};' for each in inside)}</code>"


def _parts(line: str) -> Iterator[tuple[str, bool]]:
    """(text, whether it is code) of a line, in order."""
    end = 0
    for match in _CODE_SPAN.finditer(line):
        # A code span that is the text of a link is no reason to leave the link alone.
        yield line[end : match.start()], False
        yield match[0], True
        end = match.end()
    yield line[end:], False
