"""Requests of our own: `causalist/ask`, `causalist/context` and `causalist/impact`.

In: plain JSON, with the names that the command line and settings use. Out: the documents that `--json` prints, so that
every door says the same. What is asked about is a question, the id of a node, or a position in an open document.
"""

from collections.abc import Mapping
from typing import Any

from lsprotocol import types

from causalist.errors import UnknownNode, UsageError
from causalist.model.answer import AskOptions
from causalist.serialize.answers import answer_document
from causalist.serialize.lookups import impact_document
from causalist.serialize.requests import options_from, question_of
from causalist.servers.lsp.answers import Shown, call_item
from causalist.servers.text_answers import symbol_text

_MOST_AFFECTED = 200
_CONTEXT_TOKENS = 4000
# What says where to look, beside the options.
_PLACES = ("uri", "textDocument", "position", "workDoneToken", "partialResultToken")


def ask_document(shown: Shown, params: Mapping[str, Any]) -> dict[str, object]:
    """The answer to `question`; every other parameter is an option of `ask`."""
    question = question_of(params)
    answer = shown.repository.ask(question, _options(shown, params))
    return answer_document(answer)


def context_document(shown: Shown, params: Mapping[str, Any]) -> dict[str, object]:
    """Text for a prompt: the pack of `question`, or what stands at a position with what uses it and what it uses."""
    if "question" in params:
        answer = shown.repository.ask(question_of(params), _options(shown, params))
        pack = answer.pack
        return {"node": None, "text": pack.text if pack else "", "max_tokens": pack.max_tokens if pack else None}
    node = _node(shown, params)
    most = params.get("max_tokens", _CONTEXT_TOKENS)
    if isinstance(most, bool) or not isinstance(most, int) or not 200 <= most <= 100_000:
        raise UsageError(f"max_tokens is {most!r}; it lies between 200 and 100000")
    return {"node": node, "text": symbol_text(shown.repository, node, most).text, "max_tokens": most}


def impact_of(shown: Shown, params: Mapping[str, Any]) -> dict[str, object]:
    """What depends on `node`, or on what stands at a position: the document of `impact --json`, with the place of
    each."""
    node = _node(shown, params)
    depth, confidence = params.get("max_depth"), params.get("min_confidence", 0.0)
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int)):
        raise UsageError(f"max_depth is {depth!r}; it is a whole number or left out")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise UsageError(f"min_confidence is {confidence!r}; it lies between 0 and 1")
    affected = shown.repository.impact(node, max_depth=depth, min_confidence=confidence)
    nearest = affected[:_MOST_AFFECTED]
    places = {}
    for each in nearest:
        item = call_item(shown, each.node)
        if item is not None:
            places[each.node] = {"uri": item.uri, "range": _range(item.selection_range)}
    mentions = [each for each in shown.repository.documentation(node) if each.confidence >= confidence]
    document = impact_document([node], [], len(affected), nearest, mentions[:_MOST_AFFECTED])
    return {**document, "places": places}


def _options(shown: Shown, params: Mapping[str, Any]) -> AskOptions:
    """The options that `params` name, and for the others what the repository's settings say. Raises UsageError."""
    return options_from(
        shown.repository.settings.ask_options(),
        {name: value for name, value in params.items() if name not in (*_PLACES, "question")},
    )


def _node(shown: Shown, params: Mapping[str, Any]) -> str:
    """The id of what is meant. Raises UnknownNode, AmbiguousNode and UsageError."""
    ids = shown.repository.index.graph.nodes.ids
    if isinstance(params.get("node"), str):
        return ids[shown.repository.resolve(params["node"])]
    position, document = params.get("position"), params.get("textDocument")
    try:
        at = types.Position(int(position["line"]), int(position["character"]))  # type: ignore[index]
        uri = str(document["uri"])  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        raise UsageError("this takes a question, a node, or a textDocument and a position") from None
    path = shown.path(uri)
    text = shown.text(path) if path is not None else None
    if path is None or text is None:
        raise UnknownNode(f"{uri} is not indexed")
    found = shown.places.node_at(shown.repository, path, text, at)
    if found is None:
        raise UnknownNode("nothing that is known stands at this position; put it on the name of a definition or a use")
    return found[0]


def _range(place: types.Range) -> dict[str, object]:
    return {
        "start": {"line": place.start.line, "character": place.start.character},
        "end": {"line": place.end.line, "character": place.end.character},
    }
