"""The page in Chromium: questions, keys, addresses, sizes, colours, and a repository that would like to be markup."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import CHECKOUT, write_all
from tests.review.test_review import FILES, PRICES, commit, git
from tests.servers.browser import CHROMIUM, WebServer, needs_browser
from tests.servers.conftest import settle
from tests.servers.test_typescript_client import node_modules

pytestmark = pytest.mark.slow

MARKUP = "<img src=x onerror=alert(1)>"
HOSTILE = {
    f"{MARKUP}.py": f'def pay(invoice):\n    """{MARKUP} <script>alert(2)</script> pays an invoice."""\n'
    f'    return "</td>{MARKUP}"\n',
    "docs.md": f"# {MARKUP} invoices\n\n[x](javascript:alert(3)) pays an invoice <script>alert(4)</script>\n",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = needs_browser()
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def taskboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    import shutil

    folder = tmp_path_factory.mktemp("web") / "taskboard-api"
    shutil.copytree(CHECKOUT / "sample_repos" / "taskboard-api", folder, ignore=shutil.ignore_patterns(".causalist"))
    settle(folder)
    with WebServer(folder, is_ready=True) as server:
        yield server


@pytest.fixture(scope="module")
def axe() -> Path:
    """The script of axe-core, where node has it: read before the settings of the user are taken away."""
    script = Path("axe-core") / "axe.min.js"
    modules = node_modules(script)
    if modules is None:
        pytest.skip("node has no package axe-core: npm install axe-core")
    return modules / script


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page whose complaints are failures."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    found = context.new_page()
    said: list[str] = []
    found.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    found.on("pageerror", lambda error: said.append(str(error)))
    found.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
    found.set_default_timeout(30_000)
    yield found
    context.close()
    assert said == []


def ask(page: Any, question: str) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type(question)
    page.keyboard.press("Enter")
    page.wait_for_selector("#code .source, #welcome.problem", state="attached")


def chosen(page: Any) -> str:
    found = page.locator('.hit[aria-current="true"]').get_attribute("data-node")
    assert isinstance(found, str)
    return found


def test_a_question_with_keys_alone(page: Any, taskboard: WebServer) -> None:
    page.goto(taskboard.address)
    assert "token" not in page.url
    page.wait_for_selector("#counts:not(:empty)")
    ask(page, "where does user authentication happen?")
    _, known = taskboard.call("/api/ask", {"question": "where does user authentication happen?"})
    ids = [result["node"] for result in known["answer"]["results"]]
    assert page.locator(".hit").evaluate_all("hits => hits.map((each) => each.dataset.node)") == ids
    # The drawing has its rows in causal order.
    rows = page.locator("#picture g[data-node]").evaluate_all("rows => rows.map((each) => each.dataset.node)")
    assert rows == known["answer"]["order"]
    drawn = {(edge["source"], edge["target"]) for edge in known["answer"]["edges"] if edge["source"] != edge["target"]}
    arcs = page.locator("#arcs > path").evaluate_all(
        "arcs => arcs.map((each) => [each.dataset.source, each.dataset.target])"
    )
    assert {tuple(each) for each in arcs} >= drawn
    assert chosen(page) == ids[0]
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert chosen(page) == ids[1]
    page.wait_for_function("id => document.querySelector('#code h2').textContent.startsWith('2. ')", arg=ids[1])
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "code"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#help").evaluate("help => help.open")
    page.keyboard.press("Escape")
    assert not page.locator("#help").evaluate("help => help.open")


def test_an_address_leads_to_the_same_place(page: Any, browser: Any, taskboard: WebServer) -> None:
    page.goto(taskboard.address)
    page.click("#show-options")
    page.select_option("#level", "file")
    page.select_option("#top_k", "5")
    ask(page, "verify the signature of a token")
    page.keyboard.press("j")
    node, address = chosen(page), page.url
    assert "level=file" in address and "top_k=5" in address and "node=" in address
    assert page.locator(".hit").count() == 5
    page.goto(f"{taskboard.origin}/")
    page.goto(address)
    page.wait_for_selector("#code .source, #code .part", state="attached")
    assert chosen(page) == node and page.locator("#level").input_value() == "file"
    ask(page, "rate limits")
    assert page.locator("#question").input_value() == "rate limits"
    page.go_back()
    page.wait_for_function("() => document.getElementById('question').value.startsWith('verify')")
    page.wait_for_function("id => document.querySelector('.hit[aria-current=\"true\"]')?.dataset.node === id", arg=node)


def test_following_the_graph(page: Any, taskboard: WebServer) -> None:
    page.goto(taskboard.address)
    ask(page, "where does user authentication happen?")
    page.locator("#code .link", has_text="acceptToken").first.click()
    page.wait_for_function("() => document.querySelector('#code h2').textContent.endsWith('acceptToken')")
    page.locator("#picture g[data-node$='::verifyToken']").click()
    page.wait_for_function("() => document.querySelector('#code h2').textContent.endsWith('verifyToken')")
    assert "const decoded = decodeToken(token);" in page.locator(".source").inner_text()
    # The way from the words of the question to what no word of it reaches.
    assert page.locator("#arcs > path.onway").count() >= 1 and page.locator("#code .way .link").count() >= 2


def test_pictures_lead_to_the_code(page: Any, taskboard: WebServer) -> None:
    page.goto(taskboard.address)
    ask(page, "where does user authentication happen?")
    page.locator("#picture g[data-node$='::verifyToken']").click()
    page.wait_for_function("() => document.querySelector('#code h2').textContent.endsWith('verifyToken')")
    page.click("#impact")
    page.wait_for_selector("#drawn[open] svg")
    verify = "src/security/jwt-verifier.ts::verifyToken"
    assert page.locator("#drawn-title").inner_text() == f"what depends on {verify}"
    caller = "src/middleware/auth-middleware.ts::acceptToken"
    boxes = {name: page.locator(f"#drawn-svg g[data-node='{name}'] rect") for name in (verify, caller)}
    assert boxes[caller].bounding_box()["x"] < boxes[verify].bounding_box()["x"]
    assert boxes[verify].evaluate("box => getComputedStyle(box).fill") == "rgb(221, 244, 255)"
    boxes[caller].click()
    page.wait_for_function("() => document.querySelector('#code h2').textContent.endsWith('acceptToken')")
    assert not page.locator("#drawn").evaluate("drawn => drawn.open")
    page.locator("#code select").select_option(verify)
    page.wait_for_selector("#drawn[open] svg")
    assert page.locator("#drawn-svg g[data-node]").count() == 2
    page.keyboard.press("Escape")


def test_the_parts_of_the_repository_are_a_picture(page: Any, taskboard: WebServer) -> None:
    page.goto(taskboard.address)
    page.wait_for_selector("#counts:not(:empty)")
    page.click("#show-folders")
    page.wait_for_selector("#drawn[open] svg")
    page.locator("#drawn-svg g[data-node='src/security/jwt-verifier.ts']").click()
    page.wait_for_selector("#code .source", state="attached")
    assert page.url.endswith("/?node=src%2Fsecurity%2Fjwt-verifier.ts")
    assert page.locator("#code h2").inner_text() == "jwt-verifier.ts" and not page.locator("#list").is_visible()
    page.go_back()
    page.wait_for_selector("#drawn[open] svg")  # the address of the picture


def test_the_node_that_a_picture_is_about_is_in_sight(page: Any, tmp_path: Path) -> None:
    users = [f"def user{i}():\n    hub()\n" for i in range(60)]
    (tmp_path / "hub.py").write_text("\n".join(["def hub():\n    pass\n", *users]))
    settle(tmp_path)
    with WebServer(tmp_path, is_ready=True) as server:
        page.goto(server.address)
        page.wait_for_selector("#counts:not(:empty)")
        page.goto(f"{page.url}?node=hub.py%3A%3Ahub&picture=impact")
        page.wait_for_selector("#drawn[open] svg")
        box = page.locator("#drawn-svg g[data-node='hub.py::hub'] rect").bounding_box()
    assert page.locator("#drawn-svg svg").evaluate("svg => svg.getBoundingClientRect().height") > 1600
    assert 0 <= box["y"] <= 800 - box["height"]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """Two repositories under git, each with a change; both have a definition `pay`."""
    folders = []
    for name, path, callee in (("shop", "a.py", "add_tax"), ("bank", "b.py", "withdraw")):
        folder = tmp_path_factory.mktemp("two") / name
        text = f"def pay(given):\n    return {callee}(given)\n\n\ndef {callee}(given):\n    return given\n"
        write_all(folder, {path: text})
        git(folder, "init", "-q")
        commit(folder)
        (folder / path).write_text(text.replace("    return", "    print()\n    return", 1))
        settle(folder)
        folders.append(folder)
    with WebServer(*folders, is_ready=True) as server:
        yield server


def test_several_repositories(page: Any, two: WebServer) -> None:
    """Each view is of the repository that its address names; a switch leaves nothing of the other one."""

    def shown() -> str:
        return str(page.locator("main").inner_html()) + str(page.locator("#drawn").inner_html())

    page.goto(two.address)
    page.wait_for_selector("#counts:not(:empty)")
    assert page.locator("#repositories option").all_inner_texts() == ["shop", "bank"]
    ask(page, "what does pay do")
    assert chosen(page).startswith("a.py") and "repository=shop" in page.url and "b.py" not in shown()
    in_shop = page.url
    page.select_option("#repositories", "bank")
    page.wait_for_selector("#starts .link, #examples button")
    assert page.url.endswith("/?repository=bank") and page.title() == "bank – Causalist"
    assert "a.py" not in shown() and "add_tax" not in shown() and page.locator("#question").input_value() == ""
    ask(page, "what does pay do")
    page.wait_for_selector("#code .columns .link")
    assert chosen(page).startswith("b.py") and "a.py" not in shown() and "withdraw" in shown()
    page.click("#impact")
    page.wait_for_selector("#drawn[open] svg")
    assert "repository=bank" in page.url and "picture=impact" in page.url and "a.py" not in shown()
    picture = page.url
    page.keyboard.press("Escape")
    page.click("#show-changes")
    page.wait_for_selector("#changes li")
    assert page.url.endswith("/?repository=bank&view=changes") and "b.py" in shown() and "a.py" not in shown()
    page.goto(in_shop)  # the other's address, and back to that of a picture
    page.wait_for_selector("#code .source", state="attached")
    assert page.locator("#repositories").input_value() == "shop" and "b.py" not in shown()
    page.go_back()
    page.wait_for_selector("#changes li")
    assert page.locator("#repositories").input_value() == "bank" and "a.py" not in shown()
    page.goto(picture)
    page.wait_for_selector("#drawn[open] svg")
    assert page.locator("#repositories").input_value() == "bank" and "a.py" not in shown()


def test_an_answer_for_the_repository_before_is_dropped(page: Any, two: WebServer) -> None:
    """What `shop` answers is held back until `bank` is shown."""
    page.goto(two.address)
    page.wait_for_selector("#counts:not(:empty)")
    held: list[Any] = []
    page.route(
        "**/api/*",
        lambda route: held.append(route) if '"shop"' in (route.request.post_data or "") else route.continue_(),
    )
    page.fill("#question", "what does pay do")
    page.keyboard.press("Enter")
    while not held:
        page.wait_for_timeout(20)
    page.select_option("#repositories", "bank")
    page.wait_for_selector("#counts:not(:empty)")
    with page.expect_response(lambda response: "/api/ask" in response.url):
        for each in held:
            each.continue_()
    page.wait_for_timeout(200)
    assert page.locator(".hit").count() == 0 and page.locator("#welcome").is_visible()
    assert page.url.endswith("/?repository=bank") and "a.py" not in page.locator("main").inner_html()


def test_a_repository_that_is_not_served(page: Any, two: WebServer) -> None:
    page.goto(two.address)
    page.wait_for_selector("#counts:not(:empty)")
    page.goto(f"{two.origin}/?repository=elsewhere&q=pay")
    page.wait_for_selector("#welcome.problem")
    assert "Choose one of shop, bank." in page.locator("#welcome").inner_text()
    page.select_option("#repositories", "bank")
    page.wait_for_selector("#counts:not(:empty)")
    assert not page.locator("#welcome.problem").count()


VERIFY = "src/security/jwt-verifier.ts::verifyToken"


def test_a_definition_has_an_address_of_its_own(page: Any, taskboard: WebServer) -> None:
    page.goto(taskboard.address)
    page.wait_for_selector("#counts:not(:empty)")
    page.goto(f"{taskboard.origin}/?node={VERIFY}")
    page.wait_for_selector("#code .source")
    assert page.locator("#code h2").inner_text() == "verifyToken" and page.title() == "verifyToken – Causalist"
    _, known = taskboard.call("/api/node", {"node": VERIFY})
    known["tests"] = taskboard.call("/api/tests", {"node": VERIFY})[1]
    page.wait_for_selector("#code .columns >> text=Tests that may run it")
    titles = page.locator("#code .columns .part").all_inner_texts()
    counts = [known[name]["n"] for name in ("callers", "callees", "tests")]
    assert titles == [
        f"{title} {n}" for title, n in zip(("Called by", "Calls", "Tests that may run it"), counts, strict=True)
    ]
    named = page.locator("#code .columns .link").evaluate_all("links => links.map((each) => each.title)")
    assert named[: counts[0]] == [edge["source"] for edge in known["callers"]["edges"]]
    assert named[-counts[2] :] == [each["node"] for each in known["tests"]["tests"]] and counts[2] > 0
    # The picture is part of the address, and closing it takes it away.
    page.keyboard.press("i")
    page.wait_for_selector("#drawn[open] svg")
    address = page.url
    assert "picture=impact" in address
    page.keyboard.press("Escape")
    page.wait_for_function("() => !location.search.includes('picture')")
    page.goto(address)
    page.wait_for_selector("#drawn[open] svg")
    assert page.locator("#drawn-title").inner_text() == f"what depends on {VERIFY}"
    page.goto(f"{taskboard.origin}/?node=src/middleware/auth-middleware.ts::acceptToken&picture=path&to={VERIFY}")
    page.wait_for_selector("#drawn[open] svg")
    assert page.locator("#drawn-svg g[data-node]").count() == 2


def test_source_has_the_colors_of_its_syntax(page: Any, taskboard: WebServer) -> None:
    page.goto(taskboard.address)
    page.wait_for_selector("#counts:not(:empty)")
    page.goto(f"{taskboard.origin}/?node={VERIFY}")
    page.wait_for_selector("#code .source")
    _, known = taskboard.call("/api/node", {"node": VERIFY})
    shown = page.locator(".source td:nth-child(2)").evaluate_all("cells => cells.map((each) => each.textContent)")
    assert shown == known["node"]["text"].rstrip("\n").split("\n")
    keywords = page.locator(".source .t-k").all_inner_texts()
    assert keywords[:2] == ["export", "function"] and "const" in keywords
    plain = page.locator(".source").evaluate("box => getComputedStyle(box).color")
    assert page.locator(".source .t-k").first.evaluate("each => getComputedStyle(each).color") != plain


def test_a_place_opens_in_an_editor(page: Any, taskboard: WebServer) -> None:
    _, known = taskboard.call("/api/node", {"node": VERIFY})
    root = taskboard.call("/api/ask", {"question": "token"})[1]["answer"]["repository"]["root"]
    place = f"{root}/src/security/jwt-verifier.ts"
    page.goto(taskboard.address)
    page.wait_for_selector("#counts:not(:empty)")
    page.goto(f"{taskboard.origin}/?node={VERIFY}")
    page.wait_for_selector("#open")
    assert page.locator("#open").get_attribute("href") == f"vscode://file{place}:{known['node']['start_line']}"
    page.click("#show-options")
    page.select_option("#editor", "idea")
    line = known["node"]["start_line"]
    assert page.locator("#open").get_attribute("href") == f"idea://open?file={place}&line={line}"
    page.select_option("#editor", "own")
    for template in ("", "https://evil.example/{path}", "java" + "script://x{path}", "x://nothing"):
        page.fill("#template", template)
        page.keyboard.press("Tab")
        if template.startswith("java"):  # its scheme is refused by the content policy of the page
            continue
        assert page.locator("#open").count() == 0, template
    page.fill("#template", "mine://{line}{path}")
    page.keyboard.press("Tab")
    page.reload()  # it is remembered
    page.wait_for_selector("#open")
    assert page.locator("#open").get_attribute("href") == f"mine://{line}{place}"


def test_questions_to_begin_with_are_those_of_the_repository(page: Any, taskboard: WebServer) -> None:
    page.goto(taskboard.address)
    page.wait_for_selector("#where:not([hidden])")
    examples = page.locator("#examples button").all_inner_texts()
    status, told = taskboard.call("/api/overview", {})
    assert status == 200 and examples == told["questions"] and len(examples) >= 4
    assert "common part of all repositories" in examples  # what the class Repository says of itself
    assert any(text.startswith("what handles POST /") for text in examples)
    assert "Teams create boards" in page.locator("#about").inner_text()
    page.locator("#examples button", has_text="common part of all repositories").click()
    page.wait_for_selector("#code .source", state="attached")
    assert chosen(page) == "src/storage/repository.ts::Repository"
    page.go_back()
    page.locator("#starts .link", has_text="WebhookDispatcher").click()
    page.wait_for_function("() => document.querySelector('#code h2')?.textContent === 'WebhookDispatcher'")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 380)])
def test_axe_finds_no_violation(
    scheme: str, width: int, axe: Path, browser: Any, taskboard: WebServer, two: WebServer
) -> None:
    # The content policy of the page lets no script in but its own.
    context = browser.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": width, "height": 800})
    found = context.new_page()
    views = [
        (taskboard, "", "#where:not([hidden])"),
        (taskboard, "?q=where+does+user+authentication+happen", "#code .source"),
        (taskboard, f"?node={VERIFY}", "#code .source"),
        (taskboard, f"?node={VERIFY}&picture=impact", "#drawn[open] svg"),
        (taskboard, "?picture=topo", "#drawn[open] svg"),
        (taskboard, "?q=qqzzqq", "#welcome.problem"),
        (two, "?repository=bank&q=what+does+pay+do", "#repositories:not([hidden])"),
        (two, "?repository=bank&view=changes", "#changes li"),
    ]
    for server in (taskboard, two):
        found.goto(server.address)
        found.wait_for_selector("#counts:not(:empty)")
    for server, query, shown in views:
        found.goto(f"{server.origin}/{query}")
        found.wait_for_selector(shown, state="attached")
        found.add_script_tag(path=str(axe))
        result = found.evaluate("axe.run()")
        told = [(each["id"], [node["html"][:120] for node in each["nodes"]]) for each in result["violations"]]
        assert told == [] and len(result["passes"]) > 10, query
    context.close()


def test_the_page_is_small_and_paints_soon(page: Any, taskboard: WebServer) -> None:
    import gzip

    folder = CHECKOUT / "causalist" / "servers" / "page"
    assert sum(len(gzip.compress(path.read_bytes())) for path in folder.iterdir()) < 40_000
    page.goto(taskboard.address)
    page.wait_for_selector("#counts:not(:empty)")
    painted = []
    for _ in range(3):
        page.reload()
        page.wait_for_selector("#counts:not(:empty)")
        painted.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    assert min(painted) < 500


def test_nothing_found_and_no_token(page: Any, browser: Any, taskboard: WebServer) -> None:
    page.goto(taskboard.address)
    ask(page, "qqzzqq")
    assert page.locator("#welcome h1").inner_text() == "Nothing found"
    stranger = browser.new_context().new_page()
    stranger.goto(taskboard.origin)
    stranger.wait_for_selector("#welcome.problem")
    assert "no valid token" in stranger.locator("#welcome p").first.inner_text()
    stranger.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1280])
def test_sizes_and_colours(width: int, scheme: str, page: Any, taskboard: WebServer) -> None:
    page.set_viewport_size({"width": width, "height": 780})
    page.emulate_media(color_scheme=scheme)
    page.goto(taskboard.address)
    ask(page, "where does user authentication happen?")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(18, 21, 26)")
    panels = ["#list", "#drawing", "#code"]
    if width > 720:
        assert [page.locator(each).is_visible() for each in panels] == [True, True, True]
        return
    for name, panel in zip(("list", "order", "code"), panels, strict=True):
        page.click(f".tabs [data-tab={name}]")
        assert [each for each in panels if page.locator(each).is_visible()] == [panel]
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.click(".tabs [data-tab=list]")
    page.locator(".hit").nth(2).click()
    assert page.locator("#code").is_visible()


def test_the_change_since_the_last_commit(page: Any, tmp_path: Path) -> None:
    folder = write_all(tmp_path / "shop", {**FILES, "shop/old.py": "def gone():\n    return 1\n"})
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    (folder / "shop" / "old.py").unlink()
    write_all(
        folder, {"shop/prices.py": PRICES.replace("tax)", "tax, currency)"), "new.py": "def fresh():\n    pass\n"}
    )
    settle(folder)
    with WebServer(folder, is_ready=True) as server:
        page.goto(server.address)
        page.wait_for_selector("#counts:not(:empty)")
        page.click("#show-review")
        page.wait_for_selector("#code .source")
        titles = page.locator("#changes h2").all_inner_texts()
        assert titles == [
            "Calls that no longer fit (1)", "Changed in signature (1)", "Added (1)", "Removed (1)",
            "Users that may run what changed (1)", "Tests to run (1)",
        ]  # fmt: skip
        rows = page.locator("#changes li").all_inner_texts()
        assert " ".join(rows[0].split()) == ("shop/cart.py:5 calls price nothing is given for 'currency'")
        assert page.locator("#changes .link", has_text="gone").count() == 0  # its code is no more
        assert page.evaluate("lastOf('a.js::suite.test res%2Eend()')") == "test res.end()"
        page.locator("#changes li", has_text="test_total").locator(".link").click()
        page.wait_for_function("() => document.querySelector('#code h2').textContent === 'test_total'")
        assert "node=tests%2Ftest_cart.py%3A%3Atest_total" in page.url
        page.reload()
        page.wait_for_function("() => document.querySelector('#code h2')?.textContent === 'test_total'")
        page.click("#draw-review")
        page.wait_for_selector("#drawn[open] svg")
        assert page.locator("#drawn-title").inner_text().endswith(" to the working tree")
        assert page.locator("#drawn-svg path[stroke='#cf222e']").count() == 1
        page.locator("#drawn-svg g[data-node='shop/cart.py::total']").click()
        page.wait_for_function("() => document.querySelector('#code h2').textContent === 'total'")
        page.set_viewport_size({"width": 380, "height": 780})
        assert page.evaluate("document.documentElement.scrollWidth") == 380
        ask(page, "price of the items")
        page.wait_for_selector(".hit")
        assert page.locator("#changes").inner_text() == "" and page.locator(".hit").count() > 0
        page.go_back()
        page.wait_for_selector("#draw-review", state="attached")
        # Nothing is on its way when the server ends.
        page.wait_for_selector("#code h2", state="attached")
        page.wait_for_load_state("networkidle")


def test_no_git_and_no_change(page: Any, browser: Any, taskboard: WebServer, tmp_path: Path) -> None:
    other = browser.new_context().new_page()  # the browser says on its console that a request failed
    other.goto(taskboard.address)
    other.click("#show-changes")
    other.wait_for_selector("#welcome.problem")
    assert "not a git repository" in other.locator("#welcome p").first.inner_text()
    other.context.close()
    folder = write_all(tmp_path / "shop", FILES)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    with WebServer(folder, is_ready=True) as server:
        page.goto(server.address)
        page.click("#show-changes")
        page.wait_for_selector("#welcome.problem")
        assert page.locator("#welcome h1").inner_text() == "Nothing changed"
        page.goto("about:blank")  # a page that asks when the server has ended complains


def test_text_of_a_repository_never_becomes_markup(page: Any, tmp_path: Path) -> None:
    folder = write_all(tmp_path / "hostile", HOSTILE)
    settle(folder)
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    with WebServer(folder, is_ready=True) as server:
        page.goto(server.address)
        ask(page, f"pays an invoice {MARKUP}")
        for _ in range(page.locator(".hit").count()):
            page.keyboard.press("j")
            page.wait_for_timeout(100)
        assert MARKUP in page.locator("#results").inner_text() and MARKUP in page.title()
        assert page.locator("img, script:not([src]), iframe, a:not([href^='vscode://file/'])").count() == 0
        assert all(url.startswith(server.origin) for url in requested)
        page.goto("about:blank")
