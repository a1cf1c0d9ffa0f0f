"""`causalist ask`: answer a query with a pack of connected source code."""

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._output import emit, emit_document, emit_lines, say, show_progress
from causalist.cli._repository import first_answer_options, json_option, open_repository, repository_options
from causalist.cli._run import FAILURE, NOTHING_FOUND, StartTime, import_numpy, keep_freed_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from causalist.cli._ask_output import AnswerWriter
    from causalist.errors import NothingToIndex
    from causalist.model.answer import Answer, AskOptions
    from causalist.model.index import Index
    from causalist.pipeline.guarded_steps import Deadline
    from causalist.servers.question_worker import BoundedAnswer

    _ReadInPart = Index | BoundedAnswer  # has the files that were read only in part

# Reasons for skipped files that are failures (`source.exclusion.Reason`); the others are choices.
UNREADABLE_REASONS = ("unreadable", "undecodable name")
MAX_LISTED = 20
# Arguments with another name in AskOptions.
_FIELDS = {"pack_format": "format", "no_graph": "graph", "no_semantic": "semantic"}
# The names of `pack.MINIMUM_TOKENS`, so that `--help` need not import the renderers; a test compares them.
FORMATS = ("text", "markdown", "xml", "json", "mermaid", "dot", "html")


@click.command("ask")
@click.argument("query")
@repository_options
@first_answer_options
@click.option("--top-k", type=int, default=20, show_default=True, help="Maximum number of results.")
@click.option("--level", type=click.Choice(["symbol", "file"]), default="symbol", show_default=True,
              help="Unit of the results.")  # fmt: skip
@click.option("--max-tokens", type=int, default=4000, show_default=True, help="Token budget of the pack.")
@click.option("--format", "pack_format", type=click.Choice(FORMATS), default="text", show_default=True,
              help="Format of the pack.")  # fmt: skip
@click.option(
    "--names",
    multiple=True,
    metavar="WORDS",
    help="Identifiers or words that you expect in the code, separated by spaces or commas. Repeatable.",
)
@click.option("--fill", is_flag=True, help="Fill the token budget instead of stopping at what is needed.")
@click.option("--tokenizer", type=click.Choice(["estimate", "o200k"]), default="estimate", show_default=True,
              help="Token counter. o200k is exact and needs the extra `tokens`.")  # fmt: skip
@click.option("--route", type=click.Choice(["lookup", "simple", "multi_hop", "exploratory", "skip"]),
              help="Way of answering; skip returns a cached answer only.  [default: by the query]")  # fmt: skip
@click.option("--rank", type=click.Choice(["fused", "pagerank"]), default="fused", show_default=True,
              help="Score that orders the results.")  # fmt: skip
@click.option("--no-graph", is_flag=True, help="Rank by words, without the graph.")
@click.option("--no-semantic", is_flag=True, help="Rank without the question encoder.")
@click.option("--order", type=click.Choice(["causal", "dependencies-first"]), default="causal", show_default=True,
              help="Order of the items in the pack: callers first, or dependencies first.")  # fmt: skip
@click.option("--damping", type=float, default=0.85, show_default=True, help="Probability of following an edge.")
@click.option("--specificity", type=click.Choice(["log", "passages", "none"]), default="log", show_default=True,
              help="How seeds are weighted by degree.")  # fmt: skip
@click.option("--approximate", type=float, metavar="EPSILON",
              help="Approximate PageRank by local push with this residual per edge; 0 is exact.  [default: "
              "exact up to 1,000,000 nodes]")  # fmt: skip
@click.option("--include", multiple=True, metavar="GLOB", 
              help="Search only matching files (.gitignore syntax). Repeatable.")  # fmt: skip
@click.option("--exclude", multiple=True, metavar="GLOB", help="Skip matching files. Repeatable.")
@click.option("--scope", metavar="DIR",
              help="Folder that ranks first, / for none.  [default: the current folder]")  # fmt: skip
@click.option("--explain", is_flag=True, help="Show the signals of each score below the pack.")
@click.option("--remember/--no-remember", default=None,
              help="Store the query next to the index, for feedback.  [default: remember]")  # fmt: skip
@click.option("--deadline", type=float, metavar="S",
              help="Answer within S seconds, with fewer signals if needed.")  # fmt: skip
@click.option("--strict", is_flag=True,
              help="Fail if a file was not read or parsed completely, or a step was skipped.")  # fmt: skip
@click.option("--embedder", metavar="NAME",
              help='Embedder for similarity, or "none".  [env: CAUSALIST_EMBEDDER; default: settings]')  # fmt: skip
@click.option("--answer", "in_words", is_flag=True,
              help="Answer in words with a model of the llm library; citations are checked.")  # fmt: skip
@click.option("--model", metavar="NAME", help="Model for --answer.  [default: that of llm]")
@click.option("--answer-timeout", type=float, metavar="S",
              help="Longest silence of the model, in seconds.  [default: 120]")  # fmt: skip
@click.option("--list", "is_list", is_flag=True, help="Print only the ranked list: place, name, a reason, score.")
@click.option("--open", "opened", type=int, is_flag=False, flag_value=1, metavar="[N]",
              help="Print nothing; open result N, by default the first, in $VISUAL or $EDITOR.")  # fmt: skip
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
              help="Colors and links; auto: on a terminal.")  # fmt: skip
@click.option("--pager", is_flag=True, help="Show the answer in $PAGER.")
@json_option
def ask_command(
    query: str,
    repo: Path | None,
    force: bool,
    top_k: int,
    level: str,
    max_tokens: int,
    pack_format: str,
    names: tuple[str, ...],
    fill: bool,
    tokenizer: str,
    route: str | None,
    rank: str,
    no_graph: bool,
    no_semantic: bool,
    order: str,
    damping: float,
    specificity: str,
    approximate: float | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    scope: str | None,
    explain: bool,
    remember: bool | None,
    deadline: float | None,
    strict: bool,
    embedder: str | None,
    in_words: bool,
    model: str | None,
    answer_timeout: float | None,
    is_list: bool,
    opened: int | None,
    color: str,
    pager: bool,
    as_json: bool,
) -> None:
    """Answer QUERY with the code itself.

    On a terminal, the ranked list comes first, and the code has colors.

    If QUERY is "-", it is read from standard input. A "literal" in quotes or a regular /expression/ between slashes
    (/…/i ignores case) is searched for in the text of every file.

    With --deadline, the answer may use an older index and fewer signals, or show less source; notes list what was
    left out or stopped. Without an index by then, or if a required step does not end, the command fails within half a
    second more.

    --include and --exclude answer as if no other files existed. --scope only raises the rank of a folder.

    --answer sends the query and the pack to a model and prints its answer instead of the pack. --embedder gives every
    definition and the query to that embedder, which may send them elsewhere. Without these two options, nothing leaves
    the machine.

    \b
    Example:
      causalist ask "where is a webhook signature checked" --max-tokens 2000
      causalist ask '/retry_.*_policy/' --exclude tests/
      git log -1 --format=%B | causalist ask - --level file --json
      causalist ask "what happens when a webhook fails" --answer --model NAME
    """
    due = None if deadline is None else _due(deadline)
    import_numpy()
    from causalist.model.answer import AskOptions, Level, Order, PackFormat, RankMode, Route, Specificity, Tokenizer
    from causalist.pipeline.repository import Repository, check_question, is_pattern

    chosen = AskOptions(
        top_k=top_k,
        level=Level(level),
        max_tokens=max_tokens,
        format=PackFormat(pack_format),
        tokenizer=Tokenizer(tokenizer),
        route=Route(route) if route else None,
        rank=RankMode(rank),
        graph=not no_graph,
        semantic=not no_semantic,
        order=Order(order),
        damping=damping,
        specificity=Specificity(specificity),
        approximate=approximate,
        include=include,
        exclude=exclude,
        scope=scope,
        explain=explain,
        embedder=embedder,
        names=names,
        fill=fill,
    )
    options = _with_settings(chosen, Repository.settings_at(repo or Path(), exact_root=repo is not None).ask_options())
    question = read_argument(query)
    check_question(question, options)
    writer: AnswerWriter | None = None
    if in_words or model is not None or answer_timeout is not None:
        from causalist.cli._ask_output import AnswerWriter as Writer

        writer = Writer.from_options(in_words, model, answer_timeout, options.format)
    unwritten: dict[str, object] = {"written": None} if writer else {}
    when_empty = _document_when_empty(question, unwritten) if as_json else None
    read_in_part: _ReadInPart
    if due is None:
        # What --strict refuses is a partial answer, and vectors are worth computing only for the whole.
        is_whole = strict or options.embedder is not None or options.rank is RankMode.PAGERANK
        is_whole = is_whole or bool(options.include or options.exclude)
        text = None if is_whole else " ".join((question, *options.names))
        repository = open_repository(repo, force=force, when_empty=when_empty, text=text)
        keep_freed_memory()
        with show_progress() as progress:
            answer = repository.ask(question, options, remember=remember, progress=progress)
        if repository.n_parsed is not None and not answer.results:
            # What a part does not find may be in the rest: other spellings, and beginnings of words.
            repository = open_repository(repo, force=force, when_empty=when_empty)
            answer = repository.ask(question, options, remember=remember)
        read_in_part = repository.index
    else:
        read_in_part = _in_time(repo, force, question, options, remember, due, when_empty)
        answer = read_in_part.answer
    if strict:
        _fail_if_doubtful(answer, read_in_part)
    say_doubts(answer)
    if opened is not None and answer.results:
        from causalist.cli._ask_output import open_result

        open_result(answer, Path(answer.repository.root), opened)
    elif as_json:
        from causalist.serialize.answers import answer_document

        emit_document(answer_document(answer) | (writer.document(answer) if writer else {}))
    elif answer.pack is not None:
        if writer:
            writer.write(answer)
        else:
            _write_answer(answer, is_list=is_list, color=color, pager=pager)
        if explain:
            from causalist.cli._ask_output import explain_answer

            emit_lines(["", *explain_answer(answer)])
    if answer.route is Route.SKIP:
        say("nothing found: no answer is cached, and --route skip computes none; omit --route skip")
        click.get_current_context().exit(NOTHING_FOUND)
    if not answer.results:
        filtered = " that match the filters" if include or exclude else ""
        searched = f"the files{filtered} of {answer.repository.root} ({answer.repository.files} indexed)"
        if is_pattern(question):
            say(f"nothing found: {question.strip()} does not occur in {searched}; try a query in words")
        else:
            say(f"nothing found: no word of the query occurs in {searched}; try a name or another word of the code")
        click.get_current_context().exit(NOTHING_FOUND)


def _write_answer(answer: "Answer", *, is_list: bool, color: str, pager: bool) -> None:
    """Write the pack as it is; on a terminal with the ranked list before it and with colors."""
    from causalist.model.answer import PackFormat

    assert answer.pack is not None
    text = answer.pack.text if answer.pack.text.endswith("\n") else f"{answer.pack.text}\n"
    is_colored = color == "always" or (color == "auto" and sys.stdout is not None and sys.stdout.isatty())
    if not (is_list or pager or (is_colored and answer.pack.format is PackFormat.TEXT)):
        emit(text)  # the usual way out, which imports nothing more
        return
    from causalist.cli._ask_output import MAX_LISTED, color_pack, list_results, page
    from causalist.cli._ask_output import is_colored as wants_color

    root, colored = Path(answer.repository.root), wants_color(color)
    is_text = answer.pack.format is PackFormat.TEXT
    lines: list[str] = []
    if is_list or is_text:
        lines = list_results(answer, root, colored=colored, limit=None if is_list else MAX_LISTED)
    if not is_list:
        code = color_pack(text, root) if colored and is_text else text.splitlines()
        lines = [*lines, *([""] if lines else []), *code]
    if colored:
        click.get_current_context().color = True  # as was asked for, also in a pipe
    if pager:
        page(lines)
    else:
        emit("".join(f"{line}\n" for line in lines))


def _in_time(
    repo: Path | None,
    force: bool,
    question: str,
    options: "AskOptions",
    remember: bool | None,
    due: "Deadline",
    when_empty: "Callable[[NothingToIndex], dict[str, object]] | None",
) -> "BoundedAnswer":
    """Return the answer by a deadline; `when_empty` as in `open_repository`."""
    from causalist.errors import NothingToIndex
    from causalist.servers.deadline_process import answer_in_time
    from causalist.servers.question_worker import Task

    keep_freed_memory()
    task = Task(repo or Path(), question, options, repo is not None, force, remember)
    try:
        with show_progress() as progress:
            return answer_in_time(task, due, progress)
    except NothingToIndex as error:
        if when_empty is not None:
            emit_document(when_empty(error))
        raise


def _document_when_empty(
    question: str, unwritten: dict[str, object]
) -> "Callable[[NothingToIndex], dict[str, object]]":
    from causalist.serialize.answers import empty_answer_document

    def document(error: "NothingToIndex") -> dict[str, object]:

        return empty_answer_document(question, error) | unwritten

    return document


def _due(seconds: float) -> "Deadline":
    """Return the deadline of the answer, counted from the start of the process. Raises UsageError."""
    from causalist.pipeline.guarded_steps import Deadline

    began = click.get_current_context().find_object(StartTime)
    return Deadline(seconds, gone=0.0 if began is None else began.seconds)


def _with_settings(chosen: "AskOptions", settings: "AskOptions") -> "AskOptions":
    """Return the options of the command line, and the repository's settings for the others."""
    context = click.get_current_context()
    named = {
        _FIELDS.get(name, name)
        for name in context.params
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    fields = {field.name for field in dataclasses.fields(chosen)}
    return dataclasses.replace(settings, **{name: getattr(chosen, name) for name in sorted(named & fields)})


def read_argument(query: str) -> str:
    """Return the query as valid text: arguments and pipes may contain any bytes."""
    if query == "-":
        return sys.stdin.buffer.read().decode("utf-8-sig", "replace") if sys.stdin is not None else ""
    return query.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _fail_if_doubtful(answer: "Answer", index: "_ReadInPart") -> None:
    # Partly read files are listed one by one below; the other slugs do not concern files.
    others = ("partly-read", "filtered-out", "broadened")
    doubts = [f"{d.slug}: {d.detail}" for d in answer.diagnostics if d.slug not in others]
    for reason in UNREADABLE_REASONS:
        if index.skipped.get(reason):
            doubts.append(f"{index.skipped[reason]} {reason}: {', '.join(index.examples.get(reason, ()))}")
    # All of it was read.
    notes = [note for note in index.notes if note.slug not in ("large-index", "language-missing")]
    doubts += [f"{note.path}:{note.row + 1}: {note.slug}: {note.detail}" for note in notes]
    if not doubts:
        return
    for doubt in doubts[:MAX_LISTED]:
        say(f"note: {doubt}")
    if len(doubts) > MAX_LISTED:
        say(f"note: and {len(doubts) - MAX_LISTED} more; `causalist status --json` lists all")
    say("strict: some files or steps are incomplete (see the notes above); omit --strict to get the answer anyway")
    click.get_current_context().exit(FAILURE)


def say_doubts(answer: "Answer") -> None:
    """Report the diagnostics of an answer as notes."""
    for diagnostic in answer.diagnostics:
        say(f"note: {diagnostic.slug}: {diagnostic.detail}")
