"""Tools as data: few, short, with schemas that say what is accepted; arguments are checked against them."""

import json
import math
from typing import Any

import jsonschema
import pytest

from causalist.errors import UsageError
from causalist.pack import count_tokens
from causalist.servers.mcp.tools import MAX_CHARACTERS, TOOLS

REQUIRED: dict[str, dict[str, Any]] = {"ask": {"question": "q"}, "symbol": {"name": "n"}, "impact": {"name": "n"}}


class TestDescriptions:
    def test_there_are_few_tools(self) -> None:
        assert list(TOOLS) == ["ask", "symbol", "impact"]

    @pytest.mark.parametrize("name", list(TOOLS))
    def test_are_short(self, name: str) -> None:
        tool = TOOLS[name]
        assert 40 <= len(tool.description) <= 240 and len(tool.title) <= 30
        for parameter in tool.parameters.values():
            assert 10 <= len(parameter.description) <= 80

    def test_all_of_them_cost_an_agent_little(self) -> None:
        listed = [{"name": n, "description": t.description, "inputSchema": t.schema()} for n, t in TOOLS.items()]
        assert count_tokens(json.dumps(listed)) < 1000

    def test_say_when_each_is_the_right_one(self) -> None:
        assert "Start here" in TOOLS["ask"].description
        assert "before a change" in TOOLS["impact"].description
        assert "callers" in TOOLS["symbol"].description and "path" in TOOLS["symbol"].description


class TestSchemas:
    @pytest.mark.parametrize("name", list(TOOLS))
    def test_are_json_schemas(self, name: str) -> None:
        jsonschema.Draft202012Validator.check_schema(TOOLS[name].schema())

    @pytest.mark.parametrize("name", list(TOOLS))
    def test_every_number_is_bounded_and_nothing_else_is_taken(self, name: str) -> None:
        schema: Any = TOOLS[name].schema()
        assert schema["additionalProperties"] is False
        for each in TOOLS[name].parameters.values():
            assert 0 <= each.low < each.high
            assert each.default is None or each.low <= each.default <= each.high

    @pytest.mark.parametrize(
        ("tool", "argument", "value"),
        [
            ("ask", "max_tokens", "many"), ("ask", "max_tokens", 1000.5), ("ask", "question", 7),
            ("symbol", "name", []), ("symbol", "to", 1), ("impact", "max_tokens", True), ("symbol", "colour", "red"),
        ],
    )  # fmt: skip
    def test_what_the_schema_refuses_is_refused(self, tool: str, argument: str, value: object) -> None:
        given = {**REQUIRED[tool], argument: value}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(given, TOOLS[tool].schema())
        with pytest.raises(UsageError, match=argument):
            TOOLS[tool].read(given)


class TestArguments:
    @pytest.mark.parametrize("question", ["", "x" * (MAX_CHARACTERS + 1)])
    def test_a_text_out_of_bounds_is_refused(self, question: str) -> None:
        with pytest.raises(UsageError, match="question"):
            TOOLS["ask"].read({"question": question})

    def test_defaults_are_filled_in(self) -> None:
        assert TOOLS["ask"].read({"question": "q"}) == {
            "question": "q",
            "names": None,
            "max_tokens": 4000,
            "top_k": None,
            "include": None,
            "exclude": None,
            "scope": None,
        }
        assert TOOLS["symbol"].read({"name": "n"}) == {"name": "n", "to": None, "max_tokens": 3000}
        expected = {"name": "n", "max_depth": None, "min_confidence": 0.0, "max_tokens": 2000}
        assert TOOLS["impact"].read({"name": "n"}) == expected

    def test_null_is_as_good_as_left_out(self) -> None:
        assert TOOLS["ask"].read({"question": "q", "max_tokens": None})["max_tokens"] == 4000

    def test_a_whole_number_may_be_written_with_a_point(self) -> None:
        read = TOOLS["ask"].read({"question": "q", "max_tokens": 500.0})["max_tokens"]
        assert read == 500 and isinstance(read, int)

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "inf", "nine", b"", {}, [[]]])
    def test_odd_numbers(self, value: object) -> None:
        with pytest.raises(UsageError) as caught:
            TOOLS["ask"].read({"question": "q", "max_tokens": value})
        assert len(str(caught.value)) < 200

    @pytest.mark.parametrize(
        ("tool", "argument", "value", "used"),
        [
            ("ask", "max_tokens", 199, 200), ("ask", "max_tokens", "-5", 200), ("ask", "max_tokens", 20_001, 20_000),
            ("ask", "top_k", 0, 1), ("ask", "top_k", 101, 100), ("impact", "max_depth", 0, 1),
            ("impact", "min_confidence", 1.1, 1.0), ("impact", "min_confidence", -0.1, 0.0),
        ],
    )  # fmt: skip
    def test_a_number_out_of_bounds_is_the_nearest_and_said(
        self, tool: str, argument: str, value: object, used: float
    ) -> None:
        given = {**REQUIRED[tool], argument: value}
        arguments = TOOLS[tool].read(given)
        assert arguments[argument] == used
        assert TOOLS[tool].describe_bounded(given, arguments) == (
            f"note: {argument} is {used:,}, the nearest possible, not {value!r}\n"
        )

    @pytest.mark.parametrize("value", [200, "200", 20_000, "20,000", 800, None, ""])
    def test_a_number_within_bounds_needs_no_note(self, value: object) -> None:
        given = {"question": "q", "max_tokens": value}
        assert TOOLS["ask"].describe_bounded(given, TOOLS["ask"].read(given)) == ""

    def test_a_number_too_long_to_be_written(self) -> None:
        given = {"question": "q", "max_tokens": 10**5000}
        arguments = TOOLS["ask"].read(given)
        assert arguments["max_tokens"] == 20_000
        assert "not a number too long to write" in TOOLS["ask"].describe_bounded(given, arguments)

    @pytest.mark.parametrize("blank", ["", " ", "\n\t", None])
    def test_a_question_has_to_be_there(self, blank: str | None) -> None:
        with pytest.raises(UsageError, match=r"question (must not be empty|is missing)"):
            TOOLS["ask"].read({"question": blank})

    def test_the_message_says_what_would_work(self) -> None:
        with pytest.raises(UsageError, match="max_tokens must be a number from 200 to 20,000, not 'few'"):
            TOOLS["ask"].read({"question": "q", "max_tokens": "few"})
        with pytest.raises(
            UsageError, match=r"unknown argument 'budget'\. Choose from question, names, max_tokens, top_k"
        ):
            TOOLS["ask"].read({"question": "q", "budget": 5})
