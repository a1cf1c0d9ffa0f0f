"""Query and pack -> the answer of a language model in pieces, with citations checked against the pack, or an error.

Only this module and the embedders send repository text to others; nothing here runs unless asked for by name.

A truncated answer is an error. The model runs in its own thread, because a provider's plugin may never return: the
reader gives up after a time of silence.

A citation is `[path:start-end]` or `[path:line]`, several in one pair of brackets separated by commas or semicolons,
each perhaps in backticks. It is correct if it lies inside one item of the pack; its truth is not checked. Text is held
back only between a bracket that may begin a citation and its end, so that an answer streams.
"""

import hashlib
import queue
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files as resource_files
from typing import Any, Protocol

from causalist._internal.text_formatting import neutralize
from causalist.errors import CausalistError, ExtraMissing, ModelFailed, UsageError
from causalist.model.answer import Pack, PackFormat, ShownRange

# Formats that a model reads as text with its source; drawings have none, and a page is mostly markup.
READABLE = (PackFormat.TEXT, PackFormat.MARKDOWN, PackFormat.XML, PackFormat.JSON)
_MAX_ANSWER_CHARACTERS = 200_000  # characters; a model that repeats itself would never stop
_MAX_REASON_CHARACTERS = 300  # characters of what a provider says of itself
# Why a provider says that it stopped, where that is before the end: OpenAI's and Anthropic's words.
_STOPPED_EARLY = ("length", "max_tokens", "content_filter", "incomplete")
_FIELD = re.compile(r"\{(question|mark|pack)\}")


class Model(Protocol):
    """The used part of the interface of a model of the `llm` library."""

    model_id: str

    def prompt(self, prompt: str, *, stream: bool = ...) -> Any:
        """Send a prompt and return the response."""
        ...


def check_format(format: str) -> None:
    """Raise UsageError for a pack format that a model cannot read."""
    if format not in READABLE:
        raise UsageError(f"a model cannot read a pack in the format {format}; with --answer use {', '.join(READABLE)}")


def get_model(name: str) -> Model:
    """Return a model of the `llm` library, which handles its key. Raises ExtraMissing, ModelFailed."""
    try:
        import llm
    except ImportError:
        raise ExtraMissing('asking a model needs llm; run: pip install "causalist[llm]"') from None
    try:
        model: Model = llm.get_model(name)
    except llm.UnknownModelError as error:
        raise ModelFailed(f"llm knows no model {name!r}; `llm models` lists those it knows") from error
    return model


def load_model(name: str | None) -> Model:
    """Return the model of that name, or `llm`'s default; nothing is sent.

    Raises ExtraMissing without the library, ModelFailed if no model is named, known or has its key.
    """
    try:
        import llm
    except ImportError:
        raise ExtraMissing('--answer needs llm, which asks models; run: pip install "causalist[llm]"') from None
    try:
        # The user did not choose the default that the library itself would fall back on.
        library: Any = llm
        name = name or library.get_default_model(default=None)
        if not name:
            raise ModelFailed(
                "no model is chosen; name one with --model NAME, or run: llm models default NAME (`llm models` lists "
                "those that are there)"
            )
        model = get_model(name)
        get_key = getattr(model, "get_key", None)
        if getattr(model, "needs_key", None) and get_key is not None:
            get_key()
    except CausalistError:
        raise
    except llm.NeedsKeyException as error:
        raise ModelFailed(f"{name} has no key: {_shorten_error(error)}") from error
    except Exception as error:  # whatever a plugin or a settings file of the library raises
        raise ModelFailed(f"llm cannot load {name or 'its default model'}: {_shorten_error(error)}") from error
    return model


def build_prompt(question: str, pack: Pack) -> str:
    """Return the prompt; the pack is between two marks with its hash, which it cannot contain."""
    template = resource_files("causalist").joinpath("llm_prompt.txt").read_text(encoding="utf-8")
    mark = f"-----{hashlib.sha256(f'{question} {pack.text}'.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}-----"
    fields = {"question": question.strip(), "mark": mark, "pack": pack.text.rstrip("\n")}
    return _FIELD.sub(lambda match: fields[match[1]], template)


def stream_answer(model: Model, prompt: str, patience: float) -> Iterator[str]:
    """Yield the answer as it arrives.

    Raises ModelFailed, perhaps after some text, if the model fails, is silent for `patience` seconds, or ends without
    an answer or early.
    """
    events: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    is_over = threading.Event()
    threading.Thread(target=_run_model, args=(model, prompt, events, is_over), name="answer", daemon=True).start()
    n = 0

    def make_error(what: str) -> ModelFailed:
        remainder = "what it wrote is incomplete" if n else "there is no answer"
        return ModelFailed(f"{model.model_id} {what}; {remainder}")

    try:
        while True:
            try:
                event, content = events.get(timeout=patience)
            except queue.Empty:
                raise make_error(f"said nothing for {patience:g} seconds (--answer-timeout)") from None
            if event == "error":
                raise make_error(f"failed ({type(content).__name__}: {_shorten_error(content)})") from content
            if event == "end":
                break
            if not isinstance(content, str):
                raise make_error(f"answered with something other than text ({type(content).__name__})")
            if content and (n or content.strip()):
                n += len(content)
                yield content
            if n > _MAX_ANSWER_CHARACTERS:
                raise make_error(f"did not stop after {_MAX_ANSWER_CHARACTERS:,} characters")
    finally:
        is_over.set()
    if not n:
        raise make_error("answered nothing")
    cut = _truncation_reason(content)
    if cut:
        raise make_error(cut)


def _run_model(
    model: Model, prompt: str, events: "queue.SimpleQueue[tuple[str, Any]]", is_over: threading.Event
) -> None:
    try:
        response = model.prompt(prompt, stream=bool(getattr(model, "can_stream", True)))
        for part in response:
            if is_over.is_set():
                return
            events.put(("part", part))
        events.put(("end", getattr(response, "response_json", None)))
    except BaseException as error:  # a plugin may even exit; the waiting thread has to hear of it
        events.put(("error", error))


def _truncation_reason(response: object) -> str:
    """Return why an answer ended early, by the provider's response; "" if it did not or is unknown."""
    if not isinstance(response, dict):
        return ""
    choices = response.get("choices")
    parts = (
        [response, *(choice for choice in choices if isinstance(choice, dict))]
        if isinstance(choices, list)
        else [response]
    )
    reasons = [each.get(key) for each in parts for key in ("finish_reason", "stop_reason", "done_reason", "status")]
    early = next((reason for reason in reasons if reason in _STOPPED_EARLY), None)
    if early:
        return f"stopped early ({early})"
    # A stream of OpenAI's protocol gives its reason last, so one without has lost its end.
    if isinstance(response.get("content"), str) and not any(reasons) and not response.get("done"):
        return "was cut off before its end"
    return ""


def _shorten_error(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= _MAX_REASON_CHARACTERS else f"{text[:_MAX_REASON_CHARACTERS]}…"


WRONG = "not in the context: "
# Longer than any list of citations that a reader would want; a bracket that is still open by then is text.
_MAX_BRACKET_CHARACTERS = 1_000

# A path that no item has: no brackets but balanced ones, as folders of routes have them (`[id]`, `[[...rest]]`).
_OTHER = r"(?:[^\[\]\n,;`]|\[\[?[^\[\]\n,;`]{0,80}\]?\]){1,300}?"
# `names[i:10]` and `[12:30]` are no citations.
_LETTER = re.compile(r"[^\W\d]")
_AFTER_NAME = re.compile(r"[\w\])]\Z")


@dataclass(frozen=True, slots=True)
class Citation:
    """Cited lines of a file, 1-based.

    `place` is the smallest item around them, None if the pack has none. `shown` is True if the pack has the source of
    at least one of the lines.
    """

    path: str
    start_line: int
    end_line: int
    place: ShownRange | None
    shown: bool

    @property
    def text(self) -> str:
        """Format the citation as `path:start-end`."""
        lines = f"{self.start_line}-{self.end_line}" if self.end_line != self.start_line else f"{self.start_line}"
        return f"{self.path}:{lines}"


class CitationChecker:
    """A checker that reads an answer as it arrives."""

    def __init__(self, places: Sequence[ShownRange]) -> None:
        self._places: dict[str, list[ShownRange]] = {}
        for place in places:
            self._places.setdefault(place.path, []).append(place)
        known_paths = "|".join(re.escape(path) for path in sorted(self._places, key=lambda p: (-len(p), p)))
        path = f"(?:{known_paths}|{_OTHER})" if known_paths else _OTHER
        # Atomic: a known path is also any path, and a list of many that ends wrongly would be tried in every way.
        one = rf"(?>`?{path}:L?\d{{1,18}}(?:\s?[-–]\s?L?\d{{1,18}})?`?)"
        self._brackets = re.compile(rf"\[({one}(?:(?>\s?[,;]\s?){one})*+)\]")
        self._one = re.compile(rf"`?({path}):L?(\d{{1,18}})(?:\s?[-–]\s?L?(\d{{1,18}}))?`?(?:\s?[,;]\s?|\Z)")
        self._held = ""
        self._last = ""  # the character before what is held
        self._found: dict[Citation, None] = {}

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Distinct citations so far, in the order of the text."""
        return tuple(self._found)

    def feed(self, text: str) -> str:
        """Return the text that can be printed now, safe for a terminal."""
        self._held += text
        return self._release_text(at_end=False)

    def close(self) -> str:
        """Return the text that was held back."""
        return self._release_text(at_end=True)

    def _release_text(self, *, at_end: bool) -> str:
        out: list[str] = []
        text, at = self._held, 0
        while at < len(text):
            bracket = text.find("[", at)
            if bracket != at:
                stop = len(text) if bracket < 0 else bracket
                # Half of a CR LF, which is one newline.
                if stop == len(text) and text.endswith("\r") and not at_end:
                    stop -= 1
                out.append(text[at:stop])
                at = stop
                if bracket < 0:
                    break
                continue
            match = self._brackets.match(text, at)
            if match:
                out.append(self._check_citation(match, text[at - 1 : at] or self._last))
                at = match.end()
            elif not at_end and _is_open(text, at):
                break
            else:
                out.append("[")
                at += 1
        self._last = text[at - 1 : at] or self._last
        self._held = text[at:]
        return neutralize("".join(out))

    def _check_citation(self, match: re.Match[str], before: str) -> str:
        parts = []
        for one in self._one.finditer(match[1]):
            path = one[1].strip()
            if path not in self._places and (
                not _LETTER.search(path)
                or ("/" not in path and "." not in path and _AFTER_NAME.search(before) is not None)
            ):
                return match[0]
            parts.append(self._citation(path, int(one[2]), int(one[3] or one[2])))
        self._found.update(dict.fromkeys(parts))
        return f"[{', '.join(each.text if each.place else f'{WRONG}{each.text}' for each in parts)}]"

    def _citation(self, path: str, start: int, end: int) -> Citation:
        of_file = self._places.get(path, [])
        around = [
            shown_range for shown_range in of_file if shown_range.start_line <= start <= end <= shown_range.end_line
        ]
        shown_range = min(around, key=lambda p: (p.end_line - p.start_line, p.start_line), default=None)
        shown = any(first <= end and start <= last for p in of_file for first, last in p.shown)
        return Citation(path, start, end, shown_range, shown and shown_range is not None)


def _is_open(text: str, at: int) -> bool:
    """Return True if more text may complete a citation in the bracket at `at`."""
    if len(text) - at > _MAX_BRACKET_CHARACTERS:
        return False
    depth = 0
    for character in text[at:]:
        if character == "\n":
            return False
        depth += (character == "[") - (character == "]")
        if depth == 0:
            return False
    return True
