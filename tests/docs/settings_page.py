"""The table of docs/configuration.md: `python -m tests.docs.settings_page [--write]`."""

import json
import sys

from causalist.settings import SETTINGS, Setting
from tests.docs.blocks import DOCS, keep_in_sync, table

PAGE = DOCS / "configuration.md"


def contents() -> dict[str, str]:
    rows = [(f"`{each.section}`", f"`{each.name}`", _takes(each), _default(each), each.meaning) for each in SETTINGS]
    return {"settings": table(("section", "key", "takes", "default", "meaning"), list(rows))}


def _takes(setting: Setting) -> str:
    if setting.kind == "choice":
        return ", ".join(f"`{choice}`" for choice in setting.choices)
    if setting.kind == "integer":
        return f"{setting.low:,} to {setting.high:,}"
    takes = {
        "number": f"at least {setting.low:g} and below 1",
        "flag": "true or false",
        "patterns": "a list of patterns",
        "layers": "a list of layers or folders/",
        "pairs": "a list of pairs",
    }
    return (takes | {"embedder": '`"local:NAME"` or `"none"`'})[setting.kind]


def _default(setting: Setting) -> str:
    value = list(setting.default) if isinstance(setting.default, tuple) else setting.default
    return "unset" if value is None else f"`{json.dumps(value)}`"


if __name__ == "__main__":
    sys.exit(keep_in_sync(PAGE, contents(), sys.argv[1:]))
