"""The web page on a repository: seconds of each view in Chromium, and the longest time that it does not react.

    python -m tests.benchmarks.page REPOSITORY --node ID [--to ID] [--question Q] [--runs 3]

`--node` is a definition, best one that much depends on; `--to` one that it leads to. Each view is opened by its address
in a new page. Seconds go from the request to the element that ends the view, first and then as the median of the runs;
`task` is the longest task of the page's thread in milliseconds, which a person notices from 50 on; `elements` is what
the page has then.
"""

import argparse
import statistics
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.servers.browser import CHROMIUM, WebServer

_WATCH = """
window.longest = 0;
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) window.longest = Math.max(window.longest, each.duration);
}).observe({ type: "longtask", buffered: true });
"""


def main() -> None:
    """Print one line for each view."""
    from playwright.sync_api import sync_playwright

    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("repository", type=Path)
    given.add_argument("--node", required=True)
    given.add_argument("--to")
    given.add_argument("--question", default="where is the configuration read")
    given.add_argument("--runs", type=int, default=3)
    options = given.parse_args()
    views = {
        "overview": ({}, "#starts .link, #examples button"),
        "question": ({"q": options.question}, "#code .source, #code .part"),
        "forty results": ({"q": options.question, "top_k": 40}, "#code .source, #code .part"),
        "definition": ({"node": options.node}, "#code .source, #code .part"),
        "its tests": ({"node": options.node}, "#code .columns >> text=/Tests/"),
        "what depends on it": ({"node": options.node, "picture": "impact"}, "#drawn[open] svg"),
        "path": ({"node": options.node, "picture": "path", "to": options.to or options.node}, "#drawn[open] svg"),
        "order of the parts": ({"picture": "topo"}, "#drawn[open] svg"),
        "changes": ({"view": "changes"}, "#changes li, #welcome.problem"),
    }
    with WebServer(options.repository) as server, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(server.address)
        page.wait_for_selector("#counts:not(:empty)", timeout=600_000)
        cookies = page.context.cookies()
        print(page.locator("#counts").inner_text(), flush=True)
        for name, (query, end) in views.items():
            rows = [
                _open(browser, cookies, f"{server.origin}/?{urlencode(query)}", end) for _ in range(options.runs + 1)
            ]
            first, *warm = rows
            seconds, task = statistics.median(row[0] for row in warm), statistics.median(row[1] for row in warm)
            print(f"{name:20} first {first[0]:6.2f} s, then {seconds:5.2f} s, task {task:4.0f} ms, "
                  f"{warm[-1][2]:6,} elements", flush=True)  # fmt: skip
        browser.close()


def _open(browser: Any, cookies: list[Any], address: str, end: str) -> tuple[float, float, int]:
    """Return the seconds of a view, the longest task in milliseconds, and the number of elements."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_cookies(cookies)
    context.add_init_script(_WATCH)
    page = context.new_page()
    start = time.monotonic()
    page.goto(address)
    try:
        page.wait_for_selector(end, state="attached", timeout=90_000)
        seconds = time.monotonic() - start
    except Exception:
        seconds = float("nan")  # the view has none of it, or took too long
    page.wait_for_timeout(300)
    longest, n = page.evaluate("[window.longest, document.querySelectorAll('*').length]")
    context.close()
    return seconds, longest, n


if __name__ == "__main__":
    main()
