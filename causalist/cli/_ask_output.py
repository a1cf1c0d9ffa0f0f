"""Output of `ask` beside the plain pack: on a terminal, of `--answer` and of `--explain`.

On a terminal, that is the ranked list, syntax colors, links to files, a pager, and an editor at a result. Piped output
does not come here. Colors obey NO_COLOR, TERM=dumb and --color. Repository text has no control characters by then, so
that only the sequences that are added here reach the terminal. `--answer` prints the text of a model with checked
citations, `--explain` details of scores.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.lazy import dataclass
from causalist._internal.text_formatting import align_columns
from causalist.cli._output import emit, emit_lines, escape_controls, say
from causalist.errors import CausalistError, UsageError

if TYPE_CHECKING:
    from causalist.llm_answer import Citation, CitationChecker, Model
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
        from causalist.llm_answer import check_format, load_model

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
        from causalist.llm_answer import build_prompt, stream_answer

        say(f"note: {self.model.model_id} receives the query and the pack, {pack.tokens} tokens")
        for part in stream_answer(self.model, build_prompt(question, pack), self.patience):
            yield checker.feed(part)
        yield checker.close()


def _new_checker(pack: "Pack") -> "CitationChecker":
    from causalist.llm_answer import CitationChecker

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
    for name, n_candidates in answer.generators.items():
        spent = sum(answer.timings_ms.get(f"candidates.{step}", 0.0) for step in _STEPS_OF.get(name, (name,)))
        columns = f"{n_candidates:>10}  {spent:>8.1f}" if n_candidates is not None else f"{'not run':>10}  {'':>8}"
        lines.append(f"   {name:<14}  {columns}  {GENERATORS[Generator(name)]}")
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


MAX_LISTED = 10  # results above the code
_HEADER = re.compile(r"── (?:#(?P<rank>\d+) )?(?P<path>\S.*?):(?P<first>\d+)(?:-\d+)?  (?P<rest>.*)")
_FENCE = re.compile(r"(`{3,})\S*")
# How editors are told of a line, by the name of their program. {0} is the path, {1} the line.
_EDITORS = {
    ("code", "code-insiders", "codium", "cursor", "windsurf"): ("--goto", "{0}:{1}"),
    ("subl", "zed", "zeditor", "hx", "helix"): ("{0}:{1}",),
    ("idea", "pycharm", "goland", "webstorm", "clion", "rider"): ("--line", "{1}", "{0}"),
    ("notepad++",): ("-n{1}", "{0}"),
}
_PLUS = ("+{1}", "{0}")  # vi, vim, nvim, nano, emacs, emacsclient, micro, kak, gedit and others


def is_colored(choice: str) -> bool:
    """Return True if stdout gets colors by --color, NO_COLOR and what stdout is."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()


def list_results(answer: "Answer", root: Path, *, colored: bool, limit: int | None = None) -> list[str]:
    """Return a line for each result: rank, place, name, the best reason, score."""
    shown = answer.results[:limit]
    places = [f"{each.path}:{each.start_row + 1}" for each in shown]
    rows = [
        [f"#{rank}", place, each.symbol or f"({each.kind})", _reason_of(each), f"{each.score:.2f}"]
        for rank, (place, each) in enumerate(zip(places, shown, strict=True), 1)
    ]
    lines = [escape_controls(line) for line in align_columns(rows)]
    if colored:
        lines = [
            line.replace(escape_controls(place), _link(escape_controls(place), root, hit.path), 1)
            for line, place, hit in zip(lines, places, shown, strict=True)
        ]
    if len(answer.results) > len(shown):
        lines.append(f"and {len(answer.results) - len(shown)} more; --list shows all")
    return lines


def color_pack(text: str, root: Path) -> Iterator[str]:
    """Yield the lines of a text pack with colors: headings, links to files, code by its language."""
    path, fence, code = "", "", list[str]()
    for line in text.splitlines():
        if fence:
            if line == fence:
                yield from _color_code(code, path)
                yield click.style(line, dim=True)
                fence, code = "", []
            else:
                code.append(line)
            continue
        heading, opened = _HEADER.fullmatch(line), _FENCE.fullmatch(line)
        if heading is not None:
            path = heading["path"]
            place = line[heading.start("path") : heading.start("rest")].rstrip()
            rank = click.style(f"#{heading['rank']} ", fg="yellow", bold=True) if heading["rank"] else ""
            yield f"── {rank}{_link(place, root, path)}  {click.style(heading['rest'], bold=True)}"
        elif opened is not None:
            fence = opened[1]
            yield click.style(line, dim=True)
        else:
            yield click.style(line, bold=True) if line.startswith("# ") else line
    yield from _color_code(code, path)


def _color_code(lines: Sequence[str], path: str) -> list[str]:
    """Return lines of code with colors; as they are if their language is not known."""
    from pygments import highlight
    from pygments.formatters import TerminalFormatter
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    if not lines:
        return []
    try:
        lexer = get_lexer_for_filename(Path(path).name, stripnl=False, ensurenl=True)
    except ClassNotFound:
        return list(lines)
    colored = highlight("\n".join(lines), lexer, TerminalFormatter()).split("\n")[: len(lines)]
    return colored if len(colored) == len(lines) else list(lines)


def _link(text: str, root: Path, path: str) -> str:
    """Return a text that a terminal opens as a file, underlined where links are not known (OSC 8)."""
    address = (root / path).resolve().as_uri()
    return f"\x1b]8;;{address}\x1b\\{click.style(text, fg='cyan')}\x1b]8;;\x1b\\"


def _reason_of(hit: "Hit") -> str:
    """Return the first phrase for what speaks most for a result; "" if only its links do."""
    from causalist.pack.render import reason_phrases

    return next(iter(reason_phrases(hit.reasons)), "")


def page(lines: Sequence[str]) -> None:
    """Show lines in the user's pager, as git does: $CAUSALIST_PAGER, $PAGER, or less, which ends if all fits."""
    pager = os.environ.get("CAUSALIST_PAGER") or os.environ.get("PAGER") or "less"
    text = "".join(f"{line}\n" for line in lines)
    words = shlex.split(pager)
    if not words or shutil.which(words[0]) is None or sys.stdout is None or not sys.stdout.isatty():
        click.echo(text, nl=False, color=True)
        return
    environment = os.environ | ({} if "LESS" in os.environ else {"LESS": "FRX"})
    process = subprocess.Popen(words, stdin=subprocess.PIPE, env=environment)
    try:
        process.communicate(text.encode("utf-8", "backslashreplace"))
    except (BrokenPipeError, KeyboardInterrupt):  # its user has seen enough
        process.wait()


def open_result(answer: "Answer", root: Path, rank: int) -> None:
    """Open a result in $VISUAL or $EDITOR at its line. Raises UsageError without one, and for a rank without result."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    words = shlex.split(editor)
    if not words:
        raise UsageError("--open needs $VISUAL or $EDITOR, such as EDITOR=vim")
    if not 1 <= rank <= len(answer.results):
        raise UsageError(f"--open {rank}: the answer has {len(answer.results)} results")
    hit = answer.results[rank - 1]
    try:
        done = subprocess.run([*words, *editor_arguments(words[0], root / hit.path, hit.start_row + 1)], check=False)
    except OSError as error:
        raise UsageError(f"{editor} could not be started: {error.strerror or error}") from error
    if done.returncode:
        raise UsageError(f"{editor} ended with exit code {done.returncode}")


def editor_arguments(program: str, path: Path, line: int) -> list[str]:
    """Return the arguments that open a file at a line.

    >>> editor_arguments("/usr/bin/vim", Path("/a.py"), 7), editor_arguments("code", Path("/a.py"), 7)
    (['+7', '/a.py'], ['--goto', '/a.py:7'])
    """
    name = Path(program).name.lower().removesuffix(".exe").removesuffix(".cmd")
    words = next((words for names, words in _EDITORS.items() if name in names), _PLUS)
    return [word.format(path, line) for word in words]
