"""Output of `ask --answer` (model text with checked citations) and `ask --explain` (score details)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from causalist._internal.lazy import dataclass
from causalist.cli._output import emit, emit_lines, say
from causalist.errors import CausalistError, UsageError

if TYPE_CHECKING:
    from causalist.llm import Citation, CitationChecker, Model
    from causalist.model.answer import Answer, Pack, PageRankInfo
    from causalist.model.scores import Hit, Hop

PATIENCE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class AnswerWriter:
    """Model that writes an answer from a pack. `patience` is the longest silence of the model, in seconds.

    Creating a writer sends nothing.
    """

    model: "Model"
    patience: float

    @classmethod
    def from_options(cls, wanted: bool, name: str | None, patience: float | None, format: str) -> "AnswerWriter | None":
        """Return a writer for the options of `ask`, or None without --answer.

        Raises UsageError, ExtraMissing or ModelFailed before anything is sent.
        """
        if not wanted:
            for option, value in (("--model", name), ("--answer-timeout", patience)):
                if value is not None:
                    raise UsageError(f"{option} requires --answer, which sends the query and the pack to a model")
            return None
        patience = PATIENCE_SECONDS if patience is None else patience
        # Also refuses NaN; a thread cannot wait for longer than some years.
        if not 0 < patience <= 86_400:
            raise UsageError(f"--answer-timeout must be above 0 and at most 86400 seconds, not {patience:g}")
        from causalist.llm import check_format, load_model

        check_format(format)
        return cls(load_model(name), patience)

    def write(self, answer: "Answer") -> None:
        """Stream the model's text, then list its citations.

        Raises ModelFailed after printing the text that was received.
        """
        if answer.pack is None or not answer.results:
            return
        checker = _new_checker(answer.pack)
        last = "\n"
        try:
            for text in self._stream(answer.query, answer.pack, checker):
                emit(text)
                last = text[-1:] or last
        except CausalistError:
            rest = checker.close()
            emit(rest)
            if (rest[-1:] or last) != "\n":
                emit("\n")
            _report_wrong_citations(checker)
            raise
        if last != "\n":
            emit("\n")
        cited = [each for each in checker.citations if each.place]
        if cited:
            emit_lines(["", "cited:", *(_format_citation(each) for each in cited)])
        _report_wrong_citations(checker)
        _report_missing_citations(checker)

    def document(self, answer: "Answer") -> dict[str, object]:
        """Return the key that --answer adds to the JSON document; its value is null if nothing was sent."""
        if answer.pack is None or not answer.results:
            return {"written": None}
        checker = _new_checker(answer.pack)
        text = "".join(self._stream(answer.query, answer.pack, checker))
        _report_wrong_citations(checker)
        _report_missing_citations(checker)
        return {
            "written": {
                "model": self.model.model_id,
                "text": text,
                "citations": [
                    {**_citation_document(each), "node": each.place.node, "shown": each.shown}
                    for each in checker.citations
                    if each.place
                ],
                "wrong_citations": [_citation_document(each) for each in checker.citations if not each.place],
            }
        }

    def _stream(self, question: str, pack: "Pack", checker: "CitationChecker") -> Iterator[str]:
        from causalist.llm import build_prompt, stream_answer

        say(f"note: {self.model.model_id} receives the query and the pack, {pack.tokens} tokens")
        for part in stream_answer(self.model, build_prompt(question, pack), self.patience):
            yield checker.feed(part)
        yield checker.close()


def _new_checker(pack: "Pack") -> "CitationChecker":
    from causalist.llm import CitationChecker

    return CitationChecker(pack.places)


def _format_citation(citation: "Citation") -> str:
    place = citation.place
    assert place is not None
    symbol = f"  {place.symbol}" if place.symbol is not None else ""
    unseen = "" if citation.shown else "  its source is not in the context"
    return f"  {citation.text}{symbol}  ({place.kind}){unseen}"


def _citation_document(citation: "Citation") -> dict[str, object]:
    return {"path": citation.path, "start_line": citation.start_line, "end_line": citation.end_line}


def _report_wrong_citations(checker: "CitationChecker") -> None:
    wrong = [each for each in checker.citations if not each.place]
    for each in wrong:
        say(f"note: wrong citation: no item of the pack contains {each.text}")


def _report_missing_citations(checker: "CitationChecker") -> None:
    if not checker.citations:
        say("note: no citation: the answer has no citations to check")


# Generators with more than one step.
_STEPS_OF = {"pagerank": ("pagerank", "places")}


def explain_answer(answer: "Answer") -> list[str]:
    """Return explanation lines: walk, generators, timings, then each hit with its signals and its path."""
    walk = answer.pagerank
    walked = (
        f"damping {walk.damping:g}, {walk.iterations} iterations, residual {walk.residual:.1e}, {walk.outcome}"
        f"{_format_bound(walk)}"
        if walk
        else "not walked"
    )
    lines = [f"explanation: route {answer.route.value}; PageRank {walked}"]
    lines += ["", *_format_generators(answer), "", *_format_timings(answer)]
    for rank, hit in enumerate(answer.results, 1):
        lines += ["", *_explain_hit(rank, hit)]
    return lines


def _format_bound(walk: "PageRankInfo") -> str:
    return "" if walk.bound is None else f", at most {walk.bound:.1e} from the exact one in all"


def _format_generators(answer: "Answer") -> list[str]:
    """Return a table of generators with their candidates and milliseconds."""
    from causalist.rank import GENERATORS, Generator

    lines = ["generators         candidates        ms"]
    for name, found in answer.generators.items():
        spent = sum(answer.timings_ms.get(f"candidates.{step}", 0.0) for step in _STEPS_OF.get(name, (name,)))
        told = f"{found:>10}  {spent:>8.1f}" if found is not None else f"{'not run':>10}  {'':>8}"
        lines.append(f"   {name:<14}  {told}  {GENERATORS[Generator(name)]}")
    return lines


def _format_timings(answer: "Answer") -> list[str]:
    """Return a table of stages and their steps, in milliseconds."""
    lines = ["stages and steps          ms"]
    for name, spent in answer.timings_ms.items():
        stage, _, step = name.partition(".")
        lines.append(f"   {f'  {step}' if step else stage:<16}{spent:>9.1f}")
    return lines


def _explain_hit(rank: int, hit: "Hit") -> list[str]:
    from causalist.model.scores import Signal

    lines = [f"#{rank} {hit.id}  score {hit.score:.4f}  pagerank {hit.pagerank:.2e}"]
    for reason in hit.reasons:
        # The PageRank of a hit is printed above, so its value is not repeated here.
        value = f"{reason.value:+.4f}" if reason.signal is not Signal.PAGERANK else "       "
        lines.append(f"   {value}  {reason.signal:<15}  {reason.detail}".rstrip())
    if hit.seeds:
        lines.append("   from     " + ", ".join(f"{seed.share:.0%} {seed.node}" for seed in hit.seeds))
    if len(hit.path_from_seed) > 1:
        lines.append("   way      " + hit.path_from_seed[0].node)
        lines += [f"            {_format_hop(hop)}" for hop in hit.path_from_seed[1:]]
    return lines


def _format_hop(hop: "Hop") -> str:
    where = f"  ({hop.path}:{hop.line})" if hop.path and hop.line else ""
    return f"{hop.edge} → {hop.node}{where}"
