"""The table of docs/configuration.md: `python -m tests.docs.settings_page [--write]`."""

import json
import sys

from causalist.settings import SETTINGS, Setting
from tests.docs.blocks import DOCS, blocks_of, table, with_blocks

PAGE = DOCS / "configuration.md"


def contents() -> dict[str, str]:
    rows = [(f"`{each.section}`", f"`{each.name}`", _takes(each), _default(each), each.meaning) for each in SETTINGS]
    return {"settings": table(("section", "key", "takes", "default", "meaning"), list(rows))}


def _takes(setting: Setting) -> str:
    if setting.kind == "choice":
        return ", ".join(f"`{choice}`" for choice in setting.choices)
    if setting.kind == "integer":
        return f"{setting.low:,} to {setting.high:,}"
    takes = {"number": "at least 0 and below 1", "flag": "true or false", "patterns": "a list of patterns"}
    return (takes | {"embedder": '`"local:NAME"` or `"none"`'})[setting.kind]


def _default(setting: Setting) -> str:
    value = list(setting.default) if isinstance(setting.default, tuple) else setting.default
    return "unset" if value is None else f"`{json.dumps(value)}`"


def main(arguments: list[str]) -> int:
    text = PAGE.read_text(encoding="utf-8")
    if "--write" in arguments:
        PAGE.write_text(with_blocks(text, "generated", contents()), encoding="utf-8")
        return 0
    print("in sync" if blocks_of(text, "generated") == contents() else "docs/configuration.md is old; use --write")
    return int(blocks_of(text, "generated") != contents())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
