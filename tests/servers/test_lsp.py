"""The language server as an editor meets it: symbols, lenses, hovers, calls, and requests of our own."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from causalist.pipeline.repository import Repository
from causalist.serialize.answers import answer_document
from causalist.serialize.lookup_documents import impact_document
from causalist.servers.index_job import Stage
from causalist.servers.live_repository import FreshnessReport, LiveView
from causalist.servers.lsp import answers
from causalist.servers.lsp.folders import ignore_progress
from causalist.servers.lsp.protocol import DefinitionLocator
from causalist.servers.lsp.server import LspServer
from tests.cli.commands import write_all
from tests.cli.conftest import SMALL
from tests.review.test_review import commit, git
from tests.servers.conftest import settle
from tests.servers.editor import Editor, SharedEditor, at, document, edit

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedEditor]:
    """An editor in which the files of SMALL are as they were."""
    folder = write_all(tmp_path_factory.mktemp("shared") / "small", SMALL)
    settle(folder)
    editor = SharedEditor(folder)
    yield editor
    editor.end()


class TestSymbols:
    def test_names_and_questions(self, small: Path) -> None:
        async def drive(editor: Editor) -> None:
            started = await editor.begin(small)
            assert started.server_info is not None and started.server_info.name == "causalist"
            found = await editor.workspace_symbol_async(types.WorkspaceSymbolParams("price_of"))
            assert found is not None
            first = found[0]
            assert (first.name, first.kind, first.container_name) == (
                "price_of", types.SymbolKind.Function, "shop/prices.py",
            )  # fmt: skip
            # def price_of(item): in the first line, behind "def "
            assert first.location.uri == (small / "shop" / "prices.py").as_uri()
            assert first.location.range == types.Range(at(0, 4), at(0, 12))

            asked = await editor.workspace_symbol_async(
                types.WorkspaceSymbolParams("what does an invoice cost with tax")
            )
            assert asked is not None
            known = Repository.open(small, exact_root=True).ask("what does an invoice cost with tax")
            assert [each.data["node"] for each in asked] == [hit.id for hit in known.results]
            assert [each.data["score"] for each in asked] == [hit.score for hit in known.results]
            assert await editor.workspace_symbol_async(types.WorkspaceSymbolParams("")) == []
            assert await editor.workspace_symbol_async(types.WorkspaceSymbolParams("qqzzqq")) == []

        edit(drive, is_ready=False)


async def lenses_of(editor: Editor, uri: str, kind: str) -> list[types.CodeLens]:
    found = await editor.text_document_code_lens_async(types.CodeLensParams(document(uri)))
    return [each for each in found or () if each.data["lens"] == kind]


class TestLenses:
    def test_above_definitions_with_callers(self, shared: SharedEditor) -> None:
        async def drive(editor: Editor) -> None:
            await editor.own("ask", question="price")
            uri = editor.open(shared.folder / "shop" / "prices.py")
            lenses = await lenses_of(editor, uri, "callers")
            assert [each.range for each in lenses] == [
                types.Range(at(0, 4), at(0, 12)), types.Range(at(5, 4), at(5, 12)),
            ]  # fmt: skip
            assert all(each.command is None for each in lenses)
            resolved = [await editor.code_lens_resolve_async(each) for each in lenses]
            titles = [each.command.title for each in resolved if each.command]
            assert titles == ["1 caller", "1 caller"]
            shown = resolved[0].command
            assert shown is not None and shown.command == "causalist.callers"
            locations = await editor.workspace_execute_command_async(
                types.ExecuteCommandParams(shown.command, arguments=shown.arguments)
            )
            # price_of is named in `return sum(price_of(item) for item in items)`, line 8 of the cart
            where = {"start": {"line": 7, "character": 19}, "end": {"line": 7, "character": 27}}
            assert locations == [{"uri": (shared.folder / "shop" / "cart.py").as_uri(), "range": where}]
            for _ in range(100):
                if editor.shown:
                    break
                await asyncio.sleep(0.02)
            assert editor.shown[0].uri == (shared.folder / "shop" / "cart.py").as_uri()

        shared.drive(drive)

    def test_of_what_nobody_calls(self, small: Path) -> None:
        async def drive(editor: Editor) -> None:
            await editor.begin(small, options={"callersCommand": "editor.own"})
            await editor.own("ask", question="price")
            uri = editor.open(small / "shop" / "report.py")
            lenses = await lenses_of(editor, uri, "callers")
            resolved = [await editor.code_lens_resolve_async(each) for each in lenses]
            assert [each.command and (each.command.title, each.command.command) for each in resolved] == [
                ("no callers known", ""), ("no callers known", ""),
            ]  # fmt: skip
            cart = editor.open(small / "shop" / "cart.py")
            lenses = await lenses_of(editor, cart, "callers")
            resolved = [await editor.code_lens_resolve_async(each) for each in lenses]
            # print_invoice makes one and calls its method; what imports the class depends on its file.
            assert [each.command and (each.command.title, each.command.command) for each in resolved] == [
                ("1 use", "editor.own"), ("1 caller", "editor.own"),
            ]  # fmt: skip

        edit(drive)

    def test_of_tests_and_of_files_that_change_too(self, small: Path) -> None:
        """Cart and prices are in each of twelve commits; one test runs the total, and with it the price of an item."""
        write_all(small, {"tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n"
                          "    assert Cart().total([]) == 0\n"})  # fmt: skip
        git(small, "init", "-q", "-b", "main")
        for number in range(12):
            for name in ("cart", "prices"):
                with (small / "shop" / f"{name}.py").open("a") as file:
                    file.write(f"# {number}\n")
            commit(small)

        async def drive(editor: Editor) -> None:
            await editor.begin(small, options={"changesCommand": "editor.files"})
            await editor.own("ask", question="price")
            uri = editor.open(small / "shop" / "prices.py")
            lenses = await lenses_of(editor, uri, "tests")
            assert [each.range.start.line for each in lenses] == [0, 5]
            resolved = [await editor.code_lens_resolve_async(each) for each in lenses]
            titles = [each.command and (each.command.title, each.command.command) for each in resolved]
            assert titles == [("1 test", "causalist.tests")] * 2
            shown = resolved[0].command
            assert shown is not None
            locations = await editor.workspace_execute_command_async(
                types.ExecuteCommandParams(shown.command, arguments=shown.arguments)
            )
            where = {"start": {"line": 3, "character": 4}, "end": {"line": 3, "character": 14}}
            assert locations == [{"uri": (small / "tests" / "test_cart.py").as_uri(), "range": where}]
            (changes,) = await lenses_of(editor, uri, "changes")
            assert changes.range == types.Range(at(0, 0), at(0, 0))
            told = (await editor.code_lens_resolve_async(changes)).command
            assert told is not None and told.command == "editor.files"
            assert re.match(r"changes with cart\.py \d+%", told.title)
            locations = await editor.workspace_execute_command_async(
                types.ExecuteCommandParams("causalist.changes", arguments=told.arguments)
            )
            assert locations[0]["uri"] == (small / "shop" / "cart.py").as_uri()
            tests = editor.open(small / "tests" / "test_cart.py")
            assert await lenses_of(editor, tests, "tests") == await lenses_of(editor, tests, "changes") == []

        edit(drive)


class TestHover:
    def test_of_a_definition_and_of_a_use(self, shared: SharedEditor) -> None:
        async def drive(editor: Editor) -> None:
            await editor.own("ask", question="price")
            uri = editor.open(shared.folder / "shop" / "cart.py")
            # line 8: `        return sum(price_of(item) for item in items)`
            hover = await editor.text_document_hover_async(types.HoverParams(document(uri), at(7, 21)))
            assert hover is not None and hover.range == types.Range(at(7, 19), at(7, 27))
            assert isinstance(hover.contents, types.MarkupContent)
            assert hover.contents.kind is types.MarkupKind.Markdown
            assert hover.contents.value.startswith("```python\ndef price_of(item)")
            assert "The price of an item with tax." in hover.contents.value
            assert "Causalist: function · called by 1 · calls 1" in hover.contents.value
            own = await editor.text_document_hover_async(types.HoverParams(document(uri), at(6, 8)))
            assert own is not None and isinstance(own.contents, types.MarkupContent)
            assert "def total(self, items)" in own.contents.value and "method · called by 1" in own.contents.value
            for nowhere in (at(0, 0), at(1, 0), at(7, 9), at(99, 99)):
                assert await editor.text_document_hover_async(types.HoverParams(document(uri), nowhere)) is None

        shared.drive(drive)

    def test_of_what_files_that_were_not_read_may_use(self, small: Path) -> None:
        rows = "".join(f"RATE_{i} = {i}  # of one zone, per unit and day\n" for i in range(50_000))
        (small / "rates.py").write_text(f"from shop.prices import price_of\n\nprice_of(1)\n{rows}")
        note = "1 file that was not read has this name and may use it: rates.py (too large)"

        async def drive(editor: Editor) -> None:
            await editor.begin(small)
            await editor.own("ask", question="price")
            uri = editor.open(small / "shop" / "prices.py")
            hover = await editor.text_document_hover_async(types.HoverParams(document(uri), at(0, 6)))
            assert hover is not None and isinstance(hover.contents, types.MarkupContent)
            assert "rates.py" in hover.contents.value and "(too large)" in hover.contents.value
            items = await editor.text_document_prepare_call_hierarchy_async(
                types.CallHierarchyPrepareParams(document(uri), at(0, 6))
            )
            assert items is not None
            await editor.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(items[0]))
            for _ in range(100):
                if editor.logged:
                    break
                await asyncio.sleep(0.02)
            assert any(note in text for text in editor.logged)

        edit(drive)

    def test_plain_text_for_clients_without_markdown(self, small: Path) -> None:
        async def drive(editor: Editor) -> None:
            await editor.begin(small, capabilities=types.ClientCapabilities())
            await editor.own("ask", question="price")
            uri = editor.open(small / "shop" / "prices.py")
            hover = await editor.text_document_hover_async(types.HoverParams(document(uri), at(0, 6)))
            assert hover is not None and isinstance(hover.contents, types.MarkupContent)
            assert hover.contents.kind is types.MarkupKind.PlainText
            assert hover.contents.value.splitlines()[:2] == ["def price_of(item)", "The price of an item with tax."]

        edit(drive)


class TestCallHierarchy:
    def test_both_ways(self, shared: SharedEditor) -> None:
        async def drive(editor: Editor) -> None:
            await editor.own("ask", question="price")
            uri = editor.open(shared.folder / "shop" / "prices.py")
            items = await editor.text_document_prepare_call_hierarchy_async(
                types.CallHierarchyPrepareParams(document(uri), at(0, 6))
            )
            assert items is not None
            (item,) = items
            assert (item.name, item.kind, item.detail) == ("price_of", types.SymbolKind.Function, "shop/prices.py")
            # from `def` to the end of `return with_tax(item.net)` in line 3
            assert item.range == types.Range(at(0, 0), at(2, 29))
            assert item.selection_range == types.Range(at(0, 4), at(0, 12))
            incoming = await editor.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item))
            assert incoming is not None
            assert [(each.from_.name, each.from_.detail, list(each.from_ranges)) for each in incoming] == [
                ("total", "shop/cart.py · Cart", [types.Range(at(7, 19), at(7, 27))])
            ]
            outgoing = await editor.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(item))
            assert outgoing is not None
            assert [(each.to.name, list(each.from_ranges)) for each in outgoing] == [
                ("with_tax", [types.Range(at(2, 11), at(2, 19))])
            ]
            further = await editor.call_hierarchy_incoming_calls_async(
                types.CallHierarchyIncomingCallsParams(incoming[0].from_)
            )
            assert further is not None and [each.from_.name for each in further] == ["print_invoice"]

        shared.drive(drive)

    def test_calls_of_a_class_are_those_of_its_constructor(self, tmp_path: Path) -> None:
        (tmp_path / "bell.py").write_text(
            "class Bell:\n    def __init__(self): ...\n\n\nclass Gong(Bell): ...\n\n\n"
            "def ring():\n    return Bell(), Gong()\n",
            encoding="utf-8",
        )

        async def drive(editor: Editor) -> None:
            await editor.begin(tmp_path)
            await editor.own("ask", question="bell")
            uri = editor.open(tmp_path / "bell.py")
            items = await editor.text_document_prepare_call_hierarchy_async(
                types.CallHierarchyPrepareParams(document(uri), at(1, 8))
            )
            assert items is not None and items[0].name == "__init__"
            incoming = await editor.call_hierarchy_incoming_calls_async(
                types.CallHierarchyIncomingCallsParams(items[0])
            )
            assert incoming is not None
            # `Bell` and `Gong` in `    return Bell(), Gong()`
            assert [(each.from_.name, list(each.from_ranges)) for each in incoming] == [
                ("ring", [types.Range(at(8, 11), at(8, 15)), types.Range(at(8, 19), at(8, 23))])
            ]

        edit(drive)


class TestDefinitionAndReferences:
    def test_are_off_unless_asked_for(self, small: Path) -> None:
        async def drive(editor: Editor) -> None:
            result = await editor.begin(small)
            assert result.capabilities.definition_provider is None and result.capabilities.references_provider is None

        edit(drive)

    def test_on(self, small: Path) -> None:
        async def drive(editor: Editor) -> None:
            result = await editor.begin(small, options={"definition": True, "references": True})
            assert result.capabilities.definition_provider and result.capabilities.references_provider
            await editor.own("ask", question="price")
            uri = editor.open(small / "shop" / "cart.py")
            found = await editor.text_document_definition_async(types.DefinitionParams(document(uri), at(7, 21)))
            prices = (small / "shop" / "prices.py").as_uri()
            assert found == types.Location(prices, types.Range(at(0, 4), at(0, 12)))
            used = await editor.text_document_references_async(
                types.ReferenceParams(types.ReferenceContext(False), document(uri), at(6, 9))
            )
            # `return Cart().total(items)`, line 5 of the report
            report = (small / "shop" / "report.py").as_uri()
            assert list(used or ()) == [types.Location(report, types.Range(at(4, 18), at(4, 23)))]

        edit(drive)


class TestOwnRequests:
    @pytest.mark.parametrize("is_behind", [False, True])
    def test_say_what_is_missing_where_waiting_ended(self, is_behind: bool, small: Path) -> None:
        repository, logged = Repository.open(small, exact_root=True), list[str]()
        behind = FreshnessReport(False, changed=("shop/late.py",))

        class Slow:
            def __init__(self) -> None:
                self.is_behind = is_behind

            async def view(self, *_: Any) -> LiveView:
                return LiveView(repository, 1, None if is_behind else behind, None if is_behind else Stage())

        async def drive() -> answers.DocumentView:
            server: Any = LspServer("0", small, 0.0)
            server.window_log_message = lambda params: logged.append(params.message)
            server._show_document = lambda _, shown: answers.DocumentView(
                shown, lambda _: None, lambda path: path, lambda uri: uri, "utf-16", DefinitionLocator()
            )
            view: answers.DocumentView = await server._current(Slow(), ignore_progress)
            return view

        shown = asyncio.run(drive())
        assert logged == [shown.note]
        assert ("last changes of open documents" if is_behind else "1 changed file is not in it") in shown.note
        for document_ in (
            answers.impact_answer(shown, {"node": "with_tax"}),
            answers.context_document(shown, {"node": "with_tax"}),
            answers.context_document(shown, {"question": "tax"}),
            answers.ask_document(shown, {"question": "what does an invoice cost with tax"}),
        ):
            assert document_["notes"][0] == shown.note  # type: ignore[index]

    def test_say_what_the_command_line_says(self, shared: SharedEditor) -> None:
        async def drive(editor: Editor) -> None:
            asked = await editor.own("ask", question="what does an invoice cost with tax", top_k=3, max_tokens=500)
            repository = Repository.open(shared.folder, exact_root=True)
            options = replace(repository.settings.ask_options(), top_k=3, max_tokens=500)
            known = answer_document(repository.ask("what does an invoice cost with tax", options))
            for document_ in (asked, known):
                del document_["timings_ms"]
            assert asked == json.loads(json.dumps(known))

            by_id = await editor.own("impact", node="with_tax", max_depth=2)
            affected = repository.impact("with_tax", max_depth=2)
            places, notes = by_id.pop("places"), by_id.pop("notes")
            missing = repository.describe_missing_history()
            assert notes == [missing] and missing.startswith("no git history")
            assert by_id == json.loads(
                json.dumps(impact_document(["shop/prices.py::with_tax"], [], len(affected), affected))
            )
            start = {"line": 6, "character": 8}
            assert places["shop/cart.py::Cart.total"] == {
                "uri": (shared.folder / "shop" / "cart.py").as_uri(),
                "range": {"start": start, "end": {"line": 6, "character": 13}},
            }
            uri = editor.open(shared.folder / "shop" / "prices.py")
            place = {"textDocument": {"uri": uri}, "position": {"line": 2, "character": 13}}
            assert (await editor.own("impact", **place))["changed"] == ["shop/prices.py::with_tax"]
            for line, character, node in (
                (0, 0, "shop/prices.py::price_of"),  # the first column of its first line
                (2, 0, "shop/prices.py::price_of"),
                (2, 6, "shop/prices.py::price_of"),  # `return`
                (6, 4, "shop/prices.py::with_tax"),
            ):
                inside = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
                assert (await editor.own("impact", **inside))["changed"] == [node], (line, character)
            with pytest.raises(JsonRpcException, match="no known definition or use"):  # between two definitions
                await editor.own("impact", textDocument={"uri": uri}, position={"line": 3, "character": 0})
            context = await editor.own("context", **place, max_tokens=400)
            assert context["node"] == "shop/prices.py::with_tax" and "return net * 1.2" in context["text"]
            packed = await editor.own("context", question="what does an invoice cost with tax", max_tokens=500)
            assert packed["text"].startswith("# what does an invoice cost with tax\n")

        shared.drive(drive)

    def test_review_knows_what_is_not_saved(self, small: Path) -> None:
        git(small, "init", "-q", "-b", "main")
        commit(small)

        async def drive(editor: Editor) -> None:
            await editor.begin(small)
            assert (await editor.own("review"))["definitions"] == []
            uri = editor.open(small / "shop" / "prices.py")
            editor.insert(uri, 0, ", currency", character=17)  # def price_of(item, currency):
            found = await editor.own("review", limit=1)
            node = "shop/prices.py::price_of"
            assert [(each["change"], each["node"]) for each in found["definitions"]] == [("signature", node)]
            assert [(each["path"], each["line"], each["why"]) for each in found["broken_calls"]] == [
                ("shop/cart.py", 8, "nothing is given for 'currency'")
            ]
            assert [each["node"] for each in found["affected"]] == ["shop/cart.py::Cart.total"]
            assert found["n_affected"] == 2 and found["after"] == "the working tree"
            assert set(found["places"]) == {node, "shop/cart.py::Cart.total"}
            name = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 12}}
            assert found["places"][node] == {"uri": uri, "range": name}
            staged = await editor.own("review", staged=True)
            assert staged["definitions"] == [] and staged["after"] == "what is staged"

        edit(drive)

    def test_mistakes_are_sentences(self, shared: SharedEditor) -> None:
        cases: list[tuple[str, dict[str, object], str]] = [
            ("ask", {}, "usage: question must be a string, not None"),
            ("ask", {"question": " "}, "empty-question: "),
            ("ask", {"question": "x", "colour": 1}, "usage: unknown option 'colour'. Choose from top_k, "),
            ("ask", {"question": "x", "top_k": "3"}, "usage: top_k must be of type integer, not '3'"),
            ("ask", {"question": "x", "level": "word"}, "usage: level must be one of symbol, file, not 'word'"),
            ("ask", {"question": "x", "uri": "file:///nowhere"}, "usage: uri must name an open folder"),
            ("impact", {"node": "nothing_of_that_name"}, "unknown-node: nothing here is called"),
            ("impact", {"node": "total"}, "ambiguous-node: 2 nodes are called"),
            ("impact", {}, "usage: the request must have a question, a node, or a textDocument and a position"),
            ("impact", {"node": "with_tax", "max_depth": 0}, "usage: --max-depth must be at least 1, not 0"),
            ("review", {}, "git: "),
            ("review", {"staged": 1}, "usage: staged must be true or false, not 1"),
            ("review", {"limit": 0}, "usage: limit must be an integer from 1 to 200, not 0"),
            ("context", {"node": "with_tax", "max_tokens": 3}, "usage: max_tokens must be an integer from 200"),
        ]

        async def drive(editor: Editor) -> None:
            for method, params, message in cases:
                with pytest.raises(JsonRpcException) as raised:
                    await editor.own(method, **params)
                assert raised.value.message.startswith(message), (raised.value.message, message)
                assert raised.value.code == -32803
            with pytest.raises(JsonRpcException) as raised:
                await editor.protocol.send_request_async("causalist/nothing", {})
            assert raised.value.code == -32601

        shared.drive(drive)
