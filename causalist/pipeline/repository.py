"""The facade of the library and the only module that knows the order of the stages.

`Repository.open(path).ask(query)` is: read the query, rank, select, find paths, extract, order, pack. The stages do not
know one another; the types between them are in `model/`.
"""

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from causalist import navigate
from causalist.errors import AmbiguousNode, CausalistError, IndexNotWritable, UsageError
from causalist.extract import hit_of, hops_between, name_edge, paths_from_seeds
from causalist.index.open import has_index, index_folders, open_index
from causalist.index.options import IndexOptions, Progress, ignore_progress
from causalist.index.source_text import SourceText
from causalist.model.answer import Answer, AskOptions, IndexStatus, Level, Order, PackHeader, PackInput, Route, Status
from causalist.model.index import Index
from causalist.model.protocols import NO_STEPS, Step, Steps
from causalist.model.scores import Hit, Hop, SeedShare
from causalist.model.source import Diagnostic, FileEntry, SourceFile
from causalist.pipeline.answer_notes import (
    answer_id,
    build_pagerank_info,
    cached_only_answer,
    count_searched_nodes,
    filtered_out_diagnostics,
    find_pinned_rows,
    hidden_matches_diagnostic,
    incomplete_file_diagnostics,
    order_edges,
    read_question_and_names,
    render_answer_pack,
    retry_diagnostics,
    sufficiency_of,
)
from causalist.pipeline.answer_notes import check_question as check_question
from causalist.pipeline.feedback_and_weights import FeedbackStore, LearnedWeights
from causalist.pipeline.guarded_steps import Deadline, GuardedSteps
from causalist.pipeline.lookups import Lookups, Observations
from causalist.pipeline.pack_items import choose_needed, choose_pack, with_document
from causalist.pipeline.retries import RankingAttempt, RankingSession, best_attempt, make_similarities, with_route
from causalist.rank import (
    Ranking,
    Selection,
    SnippetLines,
    WalkWeights,
    Weights,
    best_definitions_in,
    default_weights,
    parse_query,
    reasons_for,
)
from causalist.settings import Settings, read_settings
from causalist.source import FolderReader, find_root, read_file, refuse_root, relative_folder
from causalist.store import INDEX_NAME, index_stamp

if TYPE_CHECKING:
    from causalist.model.facts import FileFacts
    from causalist.model.lookup import ObservedStatus
    from causalist.pipeline.guarded_steps import Session
    from causalist.prove import NodeProof, ProveOptions
    from causalist.review.report import LayerRules, Review
    from causalist.review.versions import FileVersions
    from causalist.store import FactsCache


def is_pattern(query: str) -> bool:
    """Return True if a query is only a literal in quotes or a regular expression between slashes."""
    return parse_query(query).is_pattern


class FileReader(Protocol):
    """Reader of files that keeps something open for the next ones."""

    def read(self, entry: FileEntry) -> SourceFile | str:
        """Return the file, or the reason why it is skipped."""


class VersionFacts:
    """Reader of the facts of file versions: parses only what the cache does not have, and stores it with `store`."""

    def __init__(self, cache: "FactsCache", versions: "Sequence[FileVersions]") -> None:
        from causalist.index.collect import reader_of
        from causalist.parse import may_be_code  # the reader of text is not loaded for its name
        from causalist.source import blob_hash

        sides = [side for v in versions for side in ((v.before, v.old), (v.after, v.new)) if side[1]]
        sides = [(path, data) for path, data in sides if may_be_code(path)]
        self._cache = cache
        self._keys = {(path, id(data)): (blob_hash(data), reader_of(path)) for path, data in sides if data is not None}
        self._known = cache.get_many(self._keys.values(), words=False, bodies=False)
        self._parsed: dict[tuple[str, str], FileFacts] = {}

    def __call__(self, path: str, data: bytes) -> "FileFacts":
        """Return the facts of a version."""
        key = self._keys.get((path, id(data)))
        if key in self._known:
            return self._known[key]
        from causalist.parse import parse_file

        facts = parse_file(path, data)
        if key is not None:
            self._parsed[key] = facts
        return facts

    def store(self) -> None:
        """Store what was parsed: a change is mostly reviewed more than once."""
        from causalist.store import facts_to_bytes

        if self._parsed:
            self._cache.put_many([(key, facts_to_bytes(facts)) for key, facts in self._parsed.items()])


def layer_rules(settings: Settings) -> "LayerRules | None":
    """Return the rules of layers in settings; None if there are none."""
    from causalist.review.report import read_rules

    return read_rules(settings.value("layers", "order"), settings.value("layers", "forbidden"))


@dataclass(frozen=True, slots=True)
class Repository(Lookups):
    """An indexed repository. Open one with `open` or `at_commit`; all other methods only read."""

    settings: Settings = field(default_factory=Settings)
    feedback_store: FeedbackStore | None = None  # what is kept beside the index; None for a commit
    learned: LearnedWeights | None = None  # where the weights come from, unless they are the shipped ones
    weights: Weights = field(default_factory=default_weights)
    session: "Session | None" = None  # of a process that answers many questions
    behind: bool = False  # the index is known to be older than the files
    reader: "Callable[[], AbstractContextManager[FileReader]] | None" = None  # of very many files

    @classmethod
    def open(
        cls,
        path: str | Path = ".",
        *,
        exact_root: bool = False,
        force: bool = False,
        options: IndexOptions | None = None,
    ) -> "Repository":
        """Open the repository around `path`, or just the folder `path` if `exact_root`.

        Builds or refreshes its index. In a read-only folder, the index stays in memory and a diagnostic says so.
        """
        root, folder, settings = cls.locate(path, exact_root=exact_root, force=force)
        index, notes = open_index(root, settings.index_options(options or IndexOptions()))
        return cls.from_index(root, index, notes, folder, settings)

    @classmethod
    def open_for(
        cls,
        path: str | Path = ".",
        text: str = "",
        *,
        names: Sequence[str] = (),
        exact_root: bool = False,
        force: bool = False,
        options: IndexOptions | None = None,
        background: bool = True,
    ) -> "Repository":
        """Return the repository for one question: `open`, but without an index only what `text` needs is parsed.

        The notes then say how much was parsed (decision 46). All files with one of `names` are parsed. The whole index
        is built meanwhile by a process that outlives this one, unless `background` is False or the environment or the
        settings forbid it. Small repositories, literals and expressions need the whole index, and so does `CI`.
        """
        partial = cls.open_part(
            path, text, names=names, exact_root=exact_root, force=force, options=options, background=background
        )
        return partial or cls.open(path, exact_root=exact_root, force=force, options=options)

    @classmethod
    def open_part(
        cls,
        path: str | Path,
        text: str,
        *,
        names: Sequence[str] = (),
        exact_root: bool = False,
        force: bool = False,
        options: IndexOptions | None = None,
        background: bool = False,
    ) -> "Repository | None":
        """Return what `open_for` returns if that has a part of the repository; None if the whole is to be opened."""
        root, folder, settings = cls.locate(path, exact_root=exact_root, force=force)
        if has_index(root):
            return None
        from causalist.pipeline.first_answer import build_for, is_background_allowed, is_whole_wanted

        if is_whole_wanted():
            return None
        background = background and is_background_allowed() and bool(settings.value("index", "background"))
        chosen = settings.index_options(options or IndexOptions())
        built = build_for(root, chosen, text, names, background=background)
        if built is None:
            return None
        partial, notes = built
        opened = cls.from_index(root, partial.index, notes, folder, settings)
        # Another index has other answers to the same question, hence other ids. Nothing is kept beside it.
        index = replace(partial.index, version=f"{partial.index.version}+partial")
        return replace(opened, index=index, read=partial.masking(opened.read), feedback_store=None, observations=None,
                       n_parsed=partial.n_parsed, reader=None)  # fmt: skip

    @classmethod
    def open_part_with(
        cls,
        path: str | Path,
        name: str,
        *,
        also: Sequence[str] = (),
        exact_root: bool = False,
        force: bool = False,
        options: IndexOptions | None = None,
        background: bool = False,
    ) -> "Repository | None":
        """Return `open_part` with all files that have the last part of a name, or of one of the names `also`.

        None if they do not define it, or if it may be a constructor or special method: files run it without its name.
        """
        words = tuple(map(navigate.last_name, (name, *also)))
        if not all(words):
            return None
        part = cls.open_part(
            path, name, names=words, exact_root=exact_root, force=force, options=options, background=background
        )
        if part is None:
            return None
        graph = part.index.graph
        try:
            nodes = [part.resolve(name)]
        except AmbiguousNode as error:
            nodes = [graph.nodes.ids.position(each) for each in error.candidates]
        except CausalistError:
            return None
        return None if any(navigate.is_run_unnamed(graph, node) for node in nodes) else part

    @staticmethod
    def locate(path: str | Path, *, exact_root: bool, force: bool) -> tuple[Path, str, Settings]:
        """Return (root, folder below it, settings) of what `open` would open. Raises as `open`."""
        root = find_root(Path(path))
        folder = "" if exact_root else relative_folder(root, Path(path))
        if exact_root:
            root = Path(path).resolve()
        if not force:
            refuse_root(root)
        return root, folder, read_settings(root)

    @classmethod
    def from_index(
        cls,
        root: Path,
        index: Index,
        notes: tuple[Diagnostic, ...] = (),
        folder: str = "",
        settings: Settings | None = None,
        session: "Session | None" = None,
        behind: bool = False,
    ) -> "Repository":
        """Return the repository in the folder `root` with an existing index, current or not."""
        settings = settings or read_settings(root)
        limits, folders = settings.limits(), index_folders(root)
        store = FeedbackStore(folders)
        learned, doubts = store.read_weights(index.version)
        weights = learned.weights if learned else default_weights()
        return cls(root, index, lambda e: read_file(root, e, limits), (*notes, *doubts), folder, Observations(folders),
                   settings, store, learned, weights, session, behind, lambda: FolderReader(root, limits))  # fmt: skip

    @staticmethod
    def settings_at(path: str | Path = ".", *, exact_root: bool = False) -> Settings:
        """Return the settings that `open` would read. Raises SettingsError and RepositoryNotFound."""
        root = find_root(Path(path))
        return read_settings(Path(path).resolve() if exact_root else root)

    @classmethod
    def at_commit(
        cls,
        git_dir: str | Path,
        commit: str,
        *,
        cache: "FactsCache | None" = None,
        options: IndexOptions | None = None,
        known: Index | None = None,
    ) -> "Repository":
        """Return the state of a commit, without a checkout.

        `cache` shares facts, `known` the history of another commit's index.
        """
        from causalist.index.build import build_commit_index
        from causalist.source import BlobReader, scan_commit

        folder = Path(git_dir)
        scan = scan_commit(folder, commit)
        index = build_commit_index(folder, scan, cache, options, known)
        blobs = {entry.path: entry for entry in scan.entries}

        def read(entry: FileEntry) -> SourceFile | str:
            with BlobReader(folder) as again:
                return again.read(blobs[entry.path])

        return cls(folder, index, read, reader=lambda: BlobReader(folder, entries=blobs))

    # -- asking

    def ask(
        self,
        query: str,
        options: AskOptions | None = None,
        *,
        deadline: Deadline | float | None = None,
        remember: bool | None = None,
        progress: Progress = ignore_progress,
    ) -> Answer:
        """Return the smallest connected set of code that answers `query`: ranked, explained, ordered, packed.

        Without `options` the repository's settings apply. Raises EmptyQuestion, and UsageError for options out of
        range. An answer may have no results. Near the `deadline`, in seconds, optional steps are left out, and a
        diagnostic names them; a step that has begun is not stopped. Servers give a `session` that answers in a
        process of its own, which can be ended in any step. `remember` stores the query for feedback; None:
        as the settings say. `progress` receives the progress of an embedder.
        """
        as_given = options or self.settings.ask_options()
        options = self.settings.complete_options(as_given, self.folder)
        check_question(query, options)
        steps = GuardedSteps(
            None if self.session is None else self.session.circuits,
            Deadline(deadline) if isinstance(deadline, int | float) else deadline,
        )
        graph = self.index.graph
        named = self._compute_answer_id(query, options)
        with steps.timed(Step.ROUTE_CACHE):
            key, at_hand = self._get_cached(named, query, options)
        if at_hand is not None or options.route is Route.SKIP:
            at_hand = at_hand or cached_only_answer(named, query, self.info(), self.notes)
            self._remember(at_hand, options, remember)
            return replace(at_hand, timings_ms=steps.milliseconds)
        if self.session is not None and self.session.ask_in_time is not None and deadline is None:
            made = self.session.ask_in_time(self, query, as_given, remember)
            self.session.answers.put(key, made.answer, made.files)
            return made.answer
        with steps.timed(Step.ROUTE_READING):
            question = with_route(read_question_and_names(query, options.names), options)
        texts = SourceText(self.index.manifest, self.read)
        attempts = self._start_session(query, options, texts, steps, progress).rank_with_retries(question)
        matched, ranking, view, chosen, confidence, generated = best_attempt(attempts)
        transition = view.transition
        nodes = [c.node for c in chosen]
        with steps.timed(Step.ASSEMBLE_PATHS):
            standing = best_definitions_in(chosen, ranking, graph, transition) if options.level is Level.FILE else {}
            ends = [standing[n][0] if standing.get(n) else n for n in nodes]
            paths = paths_from_seeds(graph, transition, ranking.seeds, ends, kind_weights=WalkWeights().table())
            via = hops_between(graph, [paths[end] for end in ends], nodes, options.level)
        with steps.timed(Step.ASSEMBLE_REASONS):
            results = tuple(
                self._hit(c, ranking, paths[end], options.level) for c, end in zip(chosen, ends, strict=True)
            )
        if options.explain:
            from causalist.rank import seed_shares

            shares: list[tuple[SeedShare, ...]] | None = steps.optional(
                Step.ASSEMBLE_ATTRIBUTION,
                lambda: seed_shares(nodes, ranking, graph, transition, options, steps),
                lambda: None,
            )
            if shares is not None:
                results = tuple(replace(hit, seeds=s) for hit, s in zip(results, shares, strict=True))
        both = [*nodes, *via]
        ordered, edges = order_edges(graph, both, results, options, steps)
        ids = [graph.nodes.ids[n] for n in both]
        kept = tuple(name_edge(graph, e, ids) for e in edges)
        removed = tuple(name_edge(graph, e, ids) for e in ordered.removed)
        with steps.timed(Step.DELIVER_TEXTS):
            snippets = SnippetLines(ranking.question, self.index.lexical)
            pinned = find_pinned_rows(ranking.question, matched, self.index)
            needed = choose_needed(graph, self.index.lexical, ranking, chosen, confidence, options, view.inside)
            shown = with_document(needed, graph, ranking, options, view.inside)
            packed = choose_pack(graph, shown, results, standing, texts, options, query, snippets, pinned, steps)
        sufficiency = sufficiency_of(confidence, needed, uses_similarity=ranking.uses_similarity)
        with steps.timed(Step.DELIVER_PACKING):
            header = PackHeader(
                query,
                self.root.name,
                self.index.commit,
                count_searched_nodes(graph),
                stale=self.behind or bool(texts.changed_paths),
                causal=options.order is Order.CAUSAL,
                confidence=confidence,
                sufficiency=sufficiency,
            )
            pack = render_answer_pack(PackInput(header, *packed, options.fill), options) if results else None
        answer = Answer(
            answer_id=named,
            query=query,
            route=question.route,
            confidence=confidence,
            attempts=len(attempts),
            repository=self.info(stale=self.behind or bool(texts.changed_paths)),
            pagerank=build_pagerank_info(ranking, options),
            results=results,
            edges=kept,
            removed_edges=removed,
            order=tuple(ids[i] for i in ordered.order),
            via=tuple(graph.nodes.ids[n] for n in via),
            diagnostics=(
                *self.notes,
                *filtered_out_diagnostics(view.inside, options),
                *retry_diagnostics(question, ranking, len(attempts)),
                *incomplete_file_diagnostics(self.index, results),
                *hidden_matches_diagnostic(matched, results, self.index, options.level),
                *texts.diagnostics(),
                *steps.diagnostics(),
            ),
            timings_ms={},
            generators=generated,
            pack=pack,
            sufficiency=sufficiency,
        )
        if self.session is not None:
            self.session.answers.put(key, answer, tuple(texts.read_paths))
        with steps.timed(Step.DELIVER_REMEMBERING):
            self._remember(answer, options, remember)
        return replace(answer, timings_ms=steps.milliseconds)

    def rank_nodes(self, query: str, options: AskOptions) -> list[str]:
        """Return ids of the best nodes (or files, by `options.level`): `ask` without paths, order and pack."""
        return [self.index.graph.nodes.ids[c.node] for c in self.attempt(query, options).chosen]

    def attempt(self, query: str, options: AskOptions) -> RankingAttempt:
        """Return the first ranking of `ask`, of the query as given."""
        question = with_route(read_question_and_names(query, options.names), options)
        options = self.settings.complete_options(options, self.folder)
        return self._start_session(query, options, SourceText(self.index.manifest, self.read)).attempt(question)

    # -- reviewing

    @classmethod
    def review_revision(
        cls, path: str | Path, revision: str, *, max_depth: int | None = None, min_confidence: float = 0.0
    ) -> "tuple[Review, Repository]":
        """Return (the review of a commit or range, the repository at its later end).

        A commit is compared with its first parent, `A..B` and `A...B` (from the common ancestor) as in git. The graph
        is that of the later end: of the folder if its files are those, else built from git's objects, because today's
        would know neither the callers nor the lines of then. Raises GitError, and NothingToIndex.
        """
        from causalist.review.changes import compare_versions
        from causalist.review.report import review_change
        from causalist.review.versions import (
            compare_commits,
            is_checked_out,
            merge_base,
            resolve_commit,
            resolve_with_parent,
        )
        from causalist.source.git import work_tree_top
        from causalist.store import FactsCache, facts_path

        root = find_root(Path(path))
        root = work_tree_top(root) or root
        start, dots, end = revision.partition("...") if "..." in revision else revision.partition("..")
        after, before = resolve_with_parent(root, (end or "HEAD") if dots else start)
        if dots:
            before = resolve_commit(root, start or "HEAD")
        if dots == "..." and before is not None:
            before = merge_base(root, before, after)
        cache = FactsCache(facts_path())
        there = cls.open(root) if is_checked_out(root, after) else cls.at_commit(root, after, cache=cache)
        versions = compare_commits(root, before, after)
        facts = VersionFacts(cache, versions)
        comparison = compare_versions(versions, facts)
        facts.store()
        notes = () if before else ("it has no parent: all of it is new",)
        with there.reading() as read:
            review = review_change(
                there.index, comparison, versions, read, before=before or "", after=after,
                max_depth=max_depth, min_confidence=min_confidence, rules=layer_rules(read_settings(root)), notes=notes,
                observed=there.graph, with_records=there.with_records,
            )  # fmt: skip
        return review, there

    def review(
        self,
        *,
        staged: bool = False,
        patch: str | None = None,
        max_depth: int | None = None,
        min_confidence: float = 0.0,
    ) -> "tuple[Review, Repository]":
        """Return (the review of the files as they are against HEAD, the repository after the change).

        `staged` takes what is staged instead, `patch` the files with a unified diff applied. The graph is that of the
        changed files. Raises GitError, and UsageError for a patch that does not apply.
        """
        from causalist.index.freshness import searched_blobs
        from causalist.review.changes import compare_versions
        from causalist.review.report import review_change
        from causalist.review.versions import apply_patch, compare_folder, compare_staged, resolve_commit
        from causalist.store import FactsCache, facts_path

        notes = list[str]()
        after = "the working tree"
        if patch is not None:
            before, after = "the working tree", "the patch"
            versions = apply_patch(patch, self.read_bytes)
        elif staged:
            before, after = resolve_commit(self.root, "HEAD"), "what is staged"
            versions = compare_staged(self.root, before)
        else:
            before = resolve_commit(self.root, "HEAD")
            versions = compare_folder(self.root, before, searched_blobs(self.index), self.read)
        there: Repository = self
        if patch is not None or staged:
            there, unknown = self._with_contents({v.after: v.new for v in versions if v.after and v.new is not None})
            if unknown:
                notes.append(f"callers in files that the index does not have are not known: {', '.join(unknown[:5])}")
        facts = VersionFacts(FactsCache(facts_path()), versions)
        comparison = compare_versions(versions, facts)
        facts.store()
        with there.reading() as read:
            review = review_change(
                there.index, comparison, versions, read, before=before, after=after, max_depth=max_depth,
                min_confidence=min_confidence, rules=layer_rules(self.settings), notes=tuple(notes),
                observed=there.graph, with_records=there.with_records,
            )  # fmt: skip
        return review, there

    def pack_review(self, review: "Review", *, max_tokens: int = 8_000) -> str:
        """Return the code that a reviewer of a change needs, as Markdown of at most `max_tokens`.

        This is the repository after the change. Raises BudgetTooSmall.
        """
        from causalist.review.report import pack_review

        return pack_review(self.index, SourceText(self.index.manifest, self.read), review, max_tokens=max_tokens)

    def read_bytes(self, path: str, read: "Callable[[FileEntry], SourceFile | str] | None" = None) -> bytes | None:
        """Return the bytes of a file of the repository, by `read` if given; None if it is not there or not read."""
        manifest = self.index.manifest
        position = manifest.paths.position(path)
        entry = FileEntry(path, 0, 0) if position < 0 else FileEntry(path, int(manifest.sizes[position]), 0)
        try:
            content = (read or self.read)(entry)
        except KeyError:  # a commit does not have it
            return None
        return None if isinstance(content, str) else content.data

    @contextmanager
    def reading(self) -> "Iterator[Callable[[str], bytes | None]]":
        """Yield `read_bytes` for very many files, which takes less time in one go."""
        with nullcontext() if self.reader is None else self.reader() as reader:
            yield lambda path: self.read_bytes(path, None if reader is None else reader.read)

    def _with_contents(self, contents: "Mapping[str, bytes]") -> "tuple[Repository, list[str]]":
        """Return (the repository with other contents of files, those of them that the index does not have)."""
        from causalist.index.build import build_overlaid_index, overlay_reader

        manifest = self.index.manifest
        unknown = [path for path in contents if manifest.paths.position(path) < 0]
        differ = {path: data for path, data in contents.items() if self.read_bytes(path) != data}
        if not differ:
            return self, unknown
        limits = self.settings.limits()
        index = build_overlaid_index(self.root, self.index, differ, limits)
        return replace(self, index=index, read=overlay_reader(self.root, differ, limits), reader=None), unknown

    # -- what is indexed

    def status(self) -> Status:
        """Return what is indexed and what was left out."""
        from causalist.index.freshness import aside_of

        index = self.index
        examples = {reason: paths[:3] for reason, paths in index.examples.items()}
        aside: dict[str, list[str]] = {}
        for path, kind in aside_of(index).items():
            aside.setdefault(kind, []).append(path)
        return Status(self.info(), index.version, dict(index.languages), dict(index.skipped), examples,
                      index.notes, self.learned.provenance if self.learned else None,
                      {kind: len(paths) for kind, paths in sorted(aside.items())},
                      {kind: tuple(paths[:3]) for kind, paths in sorted(aside.items())})  # fmt: skip

    def index_status(self) -> IndexStatus:
        """Return the status of the index of a folder, after a check of all its files."""
        from causalist.index.open import index_status, stored_index_status

        stored = stored_index_status(self.root, self.settings.index_options(IndexOptions()))
        return index_status(self.root, self.index, self.read, stored if stored.path is not None else None)

    # -- runs

    def observe(self, command: Sequence[str], stdout: int | None = None) -> "tuple[int, ObservedStatus | None]":
        """Run a command, record the calls of its Python processes and return (its exit code, what is kept now).

        `stdout` is the descriptor for its output, None for that of this process. Raises UsageError for a command that
        cannot be run, and IndexNotWritable.
        """
        from causalist.observe import begin_run, delete_run, run_command, take_up_runs

        folder = self._observed_folder()
        take_up_runs(folder, self.index, SourceText(self.index.manifest, self.read))
        run = begin_run(folder, self.root, self.index, command)
        try:
            code = run_command(run, command, stdout)
        except UsageError:
            delete_run(run)
            raise
        take_up_runs(folder, self.index, SourceText(self.index.manifest, self.read))
        return code, self.observed_status()

    def forget_observed(self) -> bool:
        """Delete what runs saw; return True if there was anything. Raises IndexNotWritable."""
        from causalist.observe import forget

        return forget(self._observed_folder())

    def prove(
        self, *names: str, options: "ProveOptions", progress: Progress, failures: dict[str, str] | None = None
    ) -> "tuple[NodeProof, ...]":
        """Break each of some functions in a copy of the work tree, and return which tests notice.

        What is decided already is not run again. With `failures`, functions whose tests cannot run are there by their
        ids, with the reason. Raises as `resolve`, UsageError for what is no function of Python, ExtraMissing,
        ProofFailed and IndexNotWritable.
        """
        from causalist.prove import prove_nodes

        ids = self.index.graph.nodes.ids
        nodes = tuple(dict.fromkeys(ids[self.resolve(name)] for name in names))
        texts = SourceText(self.index.manifest, self.read)
        folder = self._observed_folder()
        choose = self._likely_tests
        return prove_nodes(self.index, texts, self.root, folder, nodes, options, choose, progress, failures)

    def _likely_tests(self, name: str) -> list[str]:
        seen = self.observations
        without_proofs = None if seen is None else Observations(seen.places, with_proofs=False)
        choice = replace(self, observations=without_proofs).choose_tests(name)
        return [each.node for each in choice.tests[: choice.n_probable]]

    def forget_proofs(self) -> bool:
        """Delete what was proven; return True if there was anything. Raises IndexNotWritable."""
        from causalist.prove import forget_proofs

        return forget_proofs(self._observed_folder())

    def _observed_folder(self) -> Path:
        folders = self.observations.places if self.observations is not None else ()
        for folder in folders:
            if index_stamp(folder / INDEX_NAME) is not None and os.access(folder, os.W_OK):
                return folder
        named = " or ".join(map(str, folders))
        raise IndexNotWritable(f"cannot keep evidence: no writable index in {named or 'a commit'}")

    # -- parts of an answer

    def _compute_answer_id(self, query: str, options: AskOptions) -> str:
        return answer_id(self.index, query, options, self.learned.digest if self.learned else "")

    def _get_cached(self, named: str, query: str, options: AskOptions) -> tuple[Hashable, Answer | None]:
        """Return (the key of an answer, the cached answer if its files are unchanged)."""
        usual = self._compute_answer_id(query, replace(options, route=None)) if options.route is Route.SKIP else named
        key = (self.root, self.folder, self.behind, self.notes, usual)
        kept = None if self.session is None else self.session.answers.get(key)
        if self.session is None or kept is None:
            return key, None
        texts = SourceText(self.index.manifest, self.read)
        for path in kept.files:
            texts.load(path)
        if texts.changed_paths:
            self.session.answers.forget(key)
            return key, None
        return key, replace(kept.answer, answer_id=named)

    def _remember(self, answer: Answer, options: AskOptions, wanted: bool | None) -> None:
        wanted = self.settings.value("ask", "remember") if wanted is None else wanted
        if wanted and self.feedback_store is not None and answer.results:
            self.feedback_store.remember(answer.answer_id, answer.query, options)

    def _start_session(
        self,
        query: str,
        options: AskOptions,
        texts: SourceText,
        steps: Steps = NO_STEPS,
        progress: Progress = ignore_progress,
    ) -> RankingSession:
        folders = () if self.feedback_store is None else self.feedback_store.places
        similarities = make_similarities(query, options, self.index, self.read, folders, progress, steps)
        return RankingSession(self.index, options, texts, self.weights, self.root, self.folder, steps, similarities)

    def _hit(self, chosen: Selection, ranking: Ranking, path: tuple[Hop, ...], level: Level) -> Hit:
        pagerank = float(ranking.pagerank.scores[chosen.node]) if ranking.pagerank is not None else 0.0
        reasons = reasons_for(chosen, ranking, self.index.graph, self.index.lexical, level)
        return replace(hit_of(self.index.graph, chosen.node, chosen.score, pagerank, path), reasons=reasons)
