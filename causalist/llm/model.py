"""A model of the `llm` library, a prompt -> its answer in pieces, or an error; never a silent half.

The model is asked in a thread of its own, because no provider's plugin promises to come back: whoever waits gives up
after a time of silence.
"""

import hashlib
import queue
import re
import threading
from collections.abc import Iterator
from importlib.resources import files as resource_files
from typing import Any, Protocol

from causalist.errors import CausalistError, ExtraMissing, ModelFailed, UsageError
from causalist.model.answer import Pack

# Formats that a model reads as text with its source; drawings have none, and a page is mostly markup.
READABLE = ("text", "markdown", "xml", "json")
_LONGEST_ANSWER = 200_000  # characters; a model that repeats itself would never stop
_LONGEST_REASON = 300  # characters of what a provider says of itself
# Why a provider says that it stopped, where that is before the end: OpenAI's and Anthropic's words.
_STOPPED_EARLY = ("length", "max_tokens", "content_filter", "incomplete")
_FIELD = re.compile(r"\{(question|mark|pack)\}")


class Model(Protocol):
    """What is used of a model of the `llm` library."""

    model_id: str

    def prompt(self, prompt: str, *, stream: bool = ...) -> Any: ...


def check_format(format: str) -> None:
    """Raises UsageError for a pack that a model could not read."""
    if format not in READABLE:
        raise UsageError(f"a model cannot read a pack in the format {format}; with --answer use {', '.join(READABLE)}")


def get_model(name: str) -> Model:
    """A model that the `llm` library knows, with its key handling. Raises ExtraMissing, ModelFailed."""
    try:
        import llm
    except ImportError:
        raise ExtraMissing('asking a model needs llm; run: pip install "causalist[llm]"') from None
    try:
        model: Model = llm.get_model(name)
    except llm.UnknownModelError as error:
        raise ModelFailed(f"llm knows no model {name!r}; `llm models` lists those it knows") from error
    return model


def chosen_model(name: str | None) -> Model:
    """The model of that name, or else the one that was made the default of `llm`; nothing is sent.

    Raises ExtraMissing without the library, ModelFailed where no model is named, known or has its key."""
    try:
        import llm
    except ImportError:
        raise ExtraMissing('--answer needs llm, which asks models; run: pip install "causalist[llm]"') from None
    try:
        # The default that the library itself would fall back on is nobody's choice.
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
        raise ModelFailed(f"{name} has no key: {_reason(error)}") from error
    except Exception as error:  # whatever a plugin or a settings file of the library raises
        raise ModelFailed(f"llm cannot load {name or 'its default model'}: {_reason(error)}") from error
    return model


def prompt_for(question: str, pack: Pack) -> str:
    """The whole prompt; the pack stands between two marks that it cannot hold, as it would have to hold its hash."""
    template = resource_files("causalist.llm").joinpath("prompt.txt").read_text(encoding="utf-8")
    mark = f"-----{hashlib.sha256(f'{question} {pack.text}'.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}-----"
    fields = {"question": question.strip(), "mark": mark, "pack": pack.text.rstrip("\n")}
    return _FIELD.sub(lambda match: fields[match[1]], template)


def parts_of_answer(model: Model, prompt: str, patience: float) -> Iterator[str]:
    """The answer as it comes in. Raises ModelFailed after whatever came, where the model fails, says nothing for
    `patience` seconds, or ends without an answer or before its end."""
    events: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    is_over = threading.Event()
    threading.Thread(target=_ask, args=(model, prompt, events, is_over), name="answer", daemon=True).start()
    n = 0

    def failed(what: str) -> ModelFailed:
        left = "what it wrote is incomplete" if n else "there is no answer"
        return ModelFailed(f"{model.model_id} {what}; {left}")

    try:
        while True:
            try:
                event, content = events.get(timeout=patience)
            except queue.Empty:
                raise failed(f"said nothing for {patience:g} seconds (--answer-timeout)") from None
            if event == "error":
                raise failed(f"failed ({type(content).__name__}: {_reason(content)})") from content
            if event == "end":
                break
            if not isinstance(content, str):
                raise failed(f"answered what is no text ({type(content).__name__})")
            if content and (n or content.strip()):
                n += len(content)
                yield content
            if n > _LONGEST_ANSWER:
                raise failed(f"did not stop after {_LONGEST_ANSWER:,} characters")
    finally:
        is_over.set()
    if not n:
        raise failed("answered nothing")
    cut = _cut_off(content)
    if cut:
        raise failed(cut)


def _ask(model: Model, prompt: str, events: "queue.SimpleQueue[tuple[str, Any]]", is_over: threading.Event) -> None:
    try:
        response = model.prompt(prompt, stream=bool(getattr(model, "can_stream", True)))
        for part in response:
            if is_over.is_set():
                return
            events.put(("part", part))
        events.put(("end", getattr(response, "response_json", None)))
    except BaseException as error:  # a plugin may even exit; whoever waits has to hear of it
        events.put(("error", error))


def _cut_off(said: object) -> str:
    """How an answer ended too early, from what a provider says of it; "" where it did not, or does not say."""
    if not isinstance(said, dict):
        return ""
    choices = said.get("choices")
    told = [said, *(choice for choice in choices if isinstance(choice, dict))] if isinstance(choices, list) else [said]
    reasons = [each.get(key) for each in told for key in ("finish_reason", "stop_reason", "done_reason", "status")]
    early = next((reason for reason in reasons if reason in _STOPPED_EARLY), None)
    if early:
        return f"stopped early ({early})"
    # A stream of OpenAI's protocol gives its reason last, so one without has lost its end.
    if isinstance(said.get("content"), str) and not any(reasons) and not said.get("done"):
        return "was cut off before its end"
    return ""


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"
