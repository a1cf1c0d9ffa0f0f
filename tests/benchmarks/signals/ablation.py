"""What each signal brings: left out, alone, and with its kin. The verdict follows from a rule, not from a look."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from causalist.evaluate.results import Interval, bootstrap
from tests.benchmarks.signals.arrays import Scores, fires
from tests.benchmarks.signals.refit import Questions, all_names

FEWEST = 30  # questions on which a signal fires, or of a set, for a gain to count
MOST_LOST = 0.005  # of NDCG@10 by all that goes
# Signals that say much the same, each of which may stand in for another.
KIN: Mapping[str, tuple[str, ...]] = {
    "names": ("name", "name share"),
    "other words": ("synonyms", "leads"),
    "history": ("messages", "similar commits"),
    "leading": ("leading definition", "leading definitions"),
    "priors": ("size", "kind"),
}
# Exact evidence, and what an embedder says: these are judged elsewhere, and the others beside them. Questions that say
# a whole name are in no set, so that `name coverage` is exact evidence too (decision 28).
EXACT = frozenset({"mention", "literal", "frame", "looked up", "identifiers", "name coverage", "dense"})
BASE = EXACT | {"text"}


@dataclass(frozen=True)
class Gain:
    """Differences of NDCG@10 on `n` questions: of files, of definitions (None where none are known)."""

    n: int
    files: Interval | None
    definitions: Interval | None

    @property
    def is_win(self) -> bool:
        """Whether one of both is above 0 by its whole interval, on enough questions."""
        return self.n >= FEWEST and any(each is not None and each.low > 0 for each in (self.files, self.definitions))

    @property
    def size(self) -> float:
        return sum(each.value for each in (self.files, self.definitions) if each is not None)

    def is_within(self, most: float) -> bool:
        return all(each is None or each.value <= most for each in (self.files, self.definitions))


@dataclass(frozen=True)
class Entry:
    """A row of the scoreboard."""

    signal: str
    out: Gain
    fired: Gain
    alone: Gain
    verdict: str


@dataclass(frozen=True)
class Board:
    """`entries` by signal; `kin`: gains by group and set, "all" among these; `lost`: by all that goes, by set."""

    entries: Mapping[str, Entry]
    kin: Mapping[str, Mapping[str, Gain]]
    lost: Mapping[str, Gain]


def gain(more: Scores, less: Scores, chosen: Sequence[int]) -> Gain:
    """Return what `more` has over `less`, both (questions, 2), on the questions `chosen`."""
    parts: list[Interval | None] = []
    for column in (more - less)[list(chosen)].T:
        known = column[~np.isnan(column)]
        parts.append(bootstrap(known[:, None])[0] if len(known) else None)
    return Gain(len(chosen), *parts)


def scoreboard(questions: Questions, sets: Mapping[str, Sequence[int]], say: Callable[[str], None]) -> Board:
    """Return what each signal brings, and which ones go. `sets`: questions by the name of their set."""
    names = all_names(questions.batch)
    firing = [fires(asked) for asked in questions.asked]
    fired = {name: [i for i, found in enumerate(firing) if name in found] for name in names}
    every = range(len(questions.asked))
    full = questions.held_out(names)
    kin: dict[str, Mapping[str, Gain]] = {}
    for group, members in KIN.items():
        less = questions.held_out(set(names).difference(members))
        kin[group] = {"all": gain(full, less, every)} | {each: gain(full, less, some) for each, some in sets.items()}
        say(f"{group}: {_said(kin[group]['all'])}")
    out: dict[str, Gain] = {}
    where: dict[str, Gain] = {}
    for name in names:
        if name not in EXACT:
            less = questions.held_out(set(names) - {name})
            out[name], where[name] = gain(full, less, every), gain(full, less, fired[name])
            say(f"{name}: {_said(out[name])}; {_said(where[name])}")
    verdicts, lost = _eliminated(questions, sets, out, where, kin, full, fired, say)
    entries: dict[str, Entry] = {}
    base = questions.held_out(BASE)
    for name, verdict in verdicts.items():
        other = questions.held_out(BASE ^ {name})
        beside = (base, other) if name in BASE else (other, base)
        entries[name] = Entry(name, out[name], where[name], gain(*beside, every), verdict)
    return Board(entries, kin, lost)


def _eliminated(
    questions: Questions,
    sets: Mapping[str, Sequence[int]],
    out: Mapping[str, Gain],
    where: Mapping[str, Gain],
    kin: Mapping[str, Mapping[str, Gain]],
    full: Scores,
    fired: Mapping[str, Sequence[int]],
    say: Callable[[str], None],
) -> tuple[dict[str, str], dict[str, Gain]]:
    """Verdicts by signal, and what all that goes loses. What wins neither overall nor where it fires is taken away, kin
    as a whole first, then one after the other, the least useful first, unless it is missed beside what is left."""
    every, names = range(len(questions.asked)), set(all_names(questions.batch))
    verdicts = {}
    for name in out:
        if out[name].is_win:
            verdicts[name] = "stays: overall"
        elif where[name].is_win:
            verdicts[name] = "stays: where it fires"
    present = full
    for group, members in sorted(KIN.items(), key=lambda each: kin[each[0]]["all"].size):
        some = names.intersection(members) - verdicts.keys()
        if len(some) < 2:
            continue
        less = questions.held_out(names - some)
        if not _is_missed(present, full, less, [every], sets):
            verdicts |= dict.fromkeys(some, "goes with its kin")
            names, present = names - some, less
        verdict = "stays" if some & names else "goes"
        say(f"{group}: {', '.join(sorted(some))}: {_said(gain(full, less, every))}: {verdict}")
    for name in sorted(set(out) - set(verdicts), key=lambda each: (out[each].size, each)):
        less = questions.held_out(names - {name})
        reason = _is_missed(present, full, less, [every, fired[name]], sets)
        verdicts[name] = f"stays: {reason}" if reason else "goes"
        if not reason:
            names, present = names - {name}, less
        say(f"{name}: {_said(gain(full, less, every))}: {verdicts[name]}")
    lost = {"all": gain(full, present, every)} | {each: gain(full, present, some) for each, some in sets.items()}
    return verdicts, lost


def _is_missed(
    present: Scores, full: Scores, less: Scores, chosen: Sequence[Sequence[int]], sets: Mapping[str, Sequence[int]]
) -> str:
    """Why what `less` lacks has to stay, beside what is `present`; "" if it may go."""
    if any(gain(present, less, some).is_win for some in chosen):
        return "without its kin"
    if not gain(full, less, chosen[0]).is_within(MOST_LOST):
        return "too much would go"
    missing = [name for name, some in sets.items() if gain(full, less, some).is_win]
    return f"the set {missing[0]} would lose" if missing else ""


def table_of(board: Board) -> str:
    """Return the scoreboard in Markdown, the signals that bring most first."""
    lines = [
        "| signal | fires on | left out: files | definitions | where it fires: files | definitions | alone: files "
        "| definitions | verdict |",
        "|---|--:|---|---|---|---|---|---|---|",
    ]
    order = sorted(board.entries.values(), key=lambda each: (-each.out.size, each.signal))
    for each in order:
        gains = (each.out, each.fired, each.alone)
        cells = [cell(part) for found in gains for part in (found.files, found.definitions)]
        lines.append(f"| `{each.signal}` | {each.fired.n} | {' | '.join(cells)} | {each.verdict} |")
    return "\n".join(lines) + "\n"


def kin_table(board: Board) -> str:
    """Return the gains of groups, and what is lost by all that goes, by set, in Markdown."""
    heads = list(board.lost)
    lines = [f"| left out together | {' | '.join(f'{head}: files | definitions' for head in heads)} |"]
    lines.append("|---|" + "---|" * (2 * len(heads)))
    rows = [(f"{group}: {', '.join(f'`{name}`' for name in KIN[group])}", found) for group, found in board.kin.items()]
    for name, found in [*rows, ("all that goes", board.lost)]:
        cells = [cell(part) for head in heads for part in (found[head].files, found[head].definitions)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cell(found: Interval | None) -> str:
    """Return points with their interval, one decimal."""
    if found is None:
        return ""
    value, low, high = (round(100 * part, 1) + 0.0 for part in found)
    return f"{f'{value:+.1f}' if value else '0.0'} [{low:.1f}–{high:.1f}]".replace("-", "−")


def _said(found: Gain) -> str:
    return f"{found.n} questions, files {cell(found.files)}, definitions {cell(found.definitions)}"
