"""`ask`: the JSON document to the letter, the pack, and what goes to stderr."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

import click
import pytest

from causalist.cli.ask import FORMATS, UNREADABLE_REASONS, ask_command
from causalist.model.answer import AskOptions, Level, Order, RankMode, Route, Specificity, Tokenizer
from causalist.pack import MINIMUM_TOKENS, get_counter
from causalist.source.exclusion import SkipReason
from tests.cli.commands import invoke, run, write_all

ASK = ["format_version", "answer_id", "query", "route", "confidence", "sufficiency", "attempts", "repository",
       "pagerank", "results",
       "edges", "removed_edges", "order", "diagnostics", "timings_ms", "generators", "pack"]  # fmt: skip
REPOSITORY = ["root", "commit", "files", "nodes", "edges", "stale", "parsed"]
PAGERANK = ["iterations", "residual", "damping", "rung", "error_bound"]
RESULT = ["rank", "node", "path", "symbol", "kind", "start_line", "end_line", "score", "pagerank", "reasons",
          "path_from_seed", "seeds"]  # fmt: skip
REASON = ["signal", "value", "detail"]
HOP = ["node", "edge", "line"]
EDGE = ["source", "target", "kind", "rule", "confidence", "line", "n"]
DIAGNOSTIC = ["slug", "detail", "line"]
PACK = ["text", "tokens", "max_tokens", "tokenizer", "items", "edges", "omitted"]
ITEM = ["node", "path", "start_line", "end_line", "rank", "tokens", "shown"]
OMITTED = ["node", "what"]


def ask(folder: Path, *arguments: str) -> dict[str, Any]:
    done = invoke("ask", *arguments, "--repo", str(folder), "--json")
    assert done.code == 0, done.stderr
    assert done.stdout.count("\n") == 1
    document: dict[str, Any] = json.loads(done.stdout)
    return document


class TestDocument:
    def check(self, document: dict[str, Any]) -> None:
        assert list(document) == ASK
        assert list(document["repository"]) == REPOSITORY
        if document["pagerank"] is not None:
            assert list(document["pagerank"]) == PAGERANK
        for number, result in enumerate(document["results"], 1):
            assert list(result) == RESULT
            assert result["rank"] == number
            assert 1 <= result["start_line"] <= result["end_line"]
            assert all(list(reason) == REASON for reason in result["reasons"])
            assert all(list(hop) == HOP for hop in result["path_from_seed"])
        assert all(list(edge) == EDGE for edge in document["edges"] + document["removed_edges"])
        assert all(list(diagnostic) == DIAGNOSTIC for diagnostic in document["diagnostics"])
        if document["pack"] is not None:
            assert list(document["pack"]) == PACK
            assert all(list(omitted) == OMITTED for omitted in document["pack"]["omitted"])
        assert {result["node"] for result in document["results"]} <= set(document["order"])

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "options", [(), ("--level", "file"), ("--no-graph",), ("--rank", "pagerank"), ("--format", "json")]
    )
    def test_keys(self, options: tuple[str, ...], taskboard_copy: Path) -> None:
        document = ask(taskboard_copy, "where is a webhook signature checked", "--max-tokens", "800", *options)
        self.check(document)
        assert document["format_version"] == 1
        assert (document["confidence"] is None) == ("pagerank" in options)
        assert (document["pagerank"] is None) == ("--no-graph" in options)
        assert len(document["results"]) == 20
        assert document["edges"] and document["pack"]["omitted"]

    def test_keys_with_a_note(self, ordinary: Any) -> None:
        folder, become_ordinary = ordinary
        folder.chmod(0o555)
        become_ordinary()
        document = ask(folder, "price")
        self.check(document)
        assert [d["slug"] for d in document["diagnostics"]] == ["index-not-writable"]

    def test_keys_where_nothing_is_found(self, small: Path, tmp_path: Path) -> None:
        empty = tmp_path / "empty"
        empty.mkdir()
        for folder, query in ((small, "qqqzzz"), (empty, "price")):
            done = invoke("ask", query, "--repo", str(folder), "--json")
            assert done.code == 1
            document = json.loads(done.stdout)
            assert list(document) == ASK
            assert (document["query"], document["results"], document["pack"]) == (query, [], None)

    def test_lines_count_from_1(self, small: Path) -> None:
        document = ask(small, "price_of")
        best = document["results"][0]
        assert (best["node"], best["start_line"], best["end_line"]) == ("shop/prices.py::price_of", 1, 3)
        calls = [e for e in document["edges"] if e["kind"] == "calls" and e["source"] == best["node"]]
        assert [(e["target"], e["line"]) for e in calls] == [("shop/prices.py::with_tax", 3)]

    def test_files(self, small: Path) -> None:
        document = ask(small, "price", "--level", "file")
        assert {r["symbol"] for r in document["results"]} == {None}
        assert len({r["path"] for r in document["results"]}) == len(document["results"])

    def test_options_reach_the_answer(self, small: Path) -> None:
        document = ask(small, "price of an invoice", "--top-k", "2", "--max-tokens", "500", "--route", "multi_hop",
                       "--damping", "0.5")  # fmt: skip
        assert len(document["results"]) == 2
        assert document["route"] == "multi_hop"
        assert document["pack"]["tokens"] <= document["pack"]["max_tokens"] == 500
        assert document["pagerank"]["damping"] == 0.5
        forward, backward = (
            ask(small, "price", "--order", order)["order"] for order in ("causal", "dependencies-first")
        )
        assert forward == backward[::-1]

    def test_an_approximate_walk_says_how_far_off_it_can_be(self, small: Path) -> None:
        walk = ask(small, "price of an invoice", "--approximate", "0.001")["pagerank"]
        assert walk["rung"] == "approximate" and 0 < walk["error_bound"] < 0.5
        assert ask(small, "price of an invoice", "--approximate", "0")["pagerank"]["error_bound"] is None
        done = invoke("ask", "price of an invoice", "--repo", str(small), "--approximate", "0.001", "--explain")
        assert f"approximate, at most {walk['error_bound']:.1e} from the exact one in all" in done.stdout

    @pytest.mark.parametrize("threshold", ["-1", "2", "nan"])
    def test_an_approximate_walk_needs_a_threshold(self, small: Path, threshold: str) -> None:
        done = invoke("ask", "price", "--repo", str(small), "--approximate", threshold)
        assert "--approximate must be from 0 (exact) to 1" in done.failed("usage")


class TestText:
    def test_prints_the_pack(self, small: Path) -> None:
        done = invoke("ask", "price with tax", cwd=small)
        assert (done.code, done.stderr) == (0, "")
        assert done.stdout == ask(small, "price with tax")["pack"]["text"].rstrip("\n") + "\n"

    @pytest.mark.slow
    def test_the_pack_says_what_counted_it(self, small: Path) -> None:
        exact = ask(small, "price", "--tokenizer", "o200k")["pack"]
        assert exact["tokenizer"] == "o200k" and f"{exact['tokens']} tokens (o200k)" in exact["text"]
        assert exact["tokens"] == get_counter("o200k")(exact["text"])
        estimate = ask(small, "price")["pack"]
        assert estimate["tokenizer"] == "estimate" and "(o200k)" not in estimate["text"]

    def test_format_json_is_the_pack_alone(self, small: Path) -> None:
        done = invoke("ask", "price", "--repo", str(small), "--format", "json")
        assert json.loads(done.stdout)["query"] == "price"
        assert "answer_id" not in json.loads(done.stdout)

    @pytest.mark.slow
    def test_standard_input(self, small: Path) -> None:
        by_pipe = run("ask", "-", cwd=small, stdin=b"\xef\xbb\xbfwhere is the price?\n")
        assert by_pipe.code == 0 and "price_of" in by_pipe.stdout

    def test_notes_are_not_among_results(self, small: Path) -> None:
        write_all(small, {"broken.py": "def price(:\n"})
        done = invoke("ask", "price", "--repo", str(small), "--json")
        assert json.loads(done.stdout)["results"]
        assert done.stderr == (
            "causalist: note: partly-read: read only in part (syntax-error): broken.py; `causalist status` lists them\n"
        )
        assert [d["slug"] for d in json.loads(done.stdout)["diagnostics"]] == ["partly-read"]

    def test_strict_without_doubts(self, small: Path) -> None:
        done = invoke("ask", "price", "--repo", str(small), "--strict")
        assert (done.code, done.stderr) == (0, "")


class TestChoices:
    """Choices are written out in the command so that `--help` imports nothing."""

    @pytest.mark.parametrize(
        ("option", "enum"),
        [
            ("level", Level),
            ("route", Route),
            ("rank", RankMode),
            ("order", Order),
            ("specificity", Specificity),
            ("tokenizer", Tokenizer),
        ],
    )
    def test_are_the_model_s(self, option: str, enum: type[StrEnum]) -> None:
        choice = next(p for p in ask_command.params if p.name == option).type
        assert isinstance(choice, click.Choice)
        assert list(choice.choices) == [member.value for member in enum]

    def test_formats_are_those_of_the_packs(self) -> None:
        assert list(FORMATS) == list(MINIMUM_TOKENS)

    def test_defaults_are_the_model_s(self) -> None:
        defaults = {p.name: p.default for p in ask_command.params}
        options = AskOptions()
        for name in ("top_k", "level", "max_tokens", "rank", "order", "damping", "specificity", "tokenizer"):
            assert defaults[name] == getattr(options, name)
        assert defaults["pack_format"] == options.format

    def test_reasons_are_the_source_s(self) -> None:
        assert set(UNREADABLE_REASONS) <= {reason.value for reason in SkipReason}


class TestFilters:
    def test_include_and_exclude(self, small: Path) -> None:
        done = invoke("ask", "price", "--include", "*.py", "--exclude", "prices.py", "--repo", str(small), "--json")
        document = json.loads(done.stdout)
        assert done.code == 0
        assert {result["path"] for result in document["results"]} <= {"shop/cart.py", "shop/report.py"}

    def test_nothing_is_left(self, small: Path) -> None:
        done = invoke("ask", "price", "--include", "*.rb", "--repo", str(small))
        assert (done.code, done.stdout) == (1, "")
        assert "filtered-out: no indexed file is left by --include *.rb" in done.stderr
        assert "that match the filters" in done.stderr
        assert invoke("ask", "price", "--include", "*.rb", "--strict", "--repo", str(small)).code == 1

    def test_no_pattern(self, small: Path) -> None:
        invoke("ask", "price", "--include", "", "--repo", str(small)).failed("usage")

    @pytest.mark.slow
    def test_scope(self, committed: Path) -> None:
        (committed / "other").mkdir()
        (committed / "other" / "prices.py").write_text((committed / "shop" / "prices.py").read_text())

        def first(*options: str, cwd: Path) -> str:
            done = invoke("ask", "price of an item", *options, "--json", cwd=cwd)
            path: str = json.loads(done.stdout)["results"][0]["path"]
            return path

        assert first(cwd=committed / "shop") == "shop/prices.py"
        assert first(cwd=committed / "other") == "other/prices.py"
        assert first("--scope", "../shop", cwd=committed / "other") == "shop/prices.py"
        assert first("--scope", "shop", cwd=committed) == "shop/prices.py"
        assert "must be a folder" in invoke("ask", "price", "--scope", "nowhere", cwd=committed).failed("usage")


def test_the_route_skip_has_nothing_at_hand_in_a_process_of_its_own(small: Path) -> None:
    arguments = ("ask", "price", "--repo", str(small), "--route", "skip")
    for _ in range(2):
        done = invoke(*arguments)
        assert (done.code, done.stdout) == (1, "")
        assert "note: not-cached: " in done.stderr
        assert done.stderr.endswith(
            "nothing found: no answer is cached, and --route skip computes none; omit --route skip\n"
        )
    done = invoke(*arguments, "--json")
    document = json.loads(done.stdout)
    assert done.code == 1 and document["route"] == "skip" and document["results"] == [] and document["pack"] is None
    assert [each["slug"] for each in document["diagnostics"]] == ["not-cached"]
