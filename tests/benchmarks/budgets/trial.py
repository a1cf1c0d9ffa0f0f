"""Random questions at random budgets in every format: is a pack ever too long, and does it say what it leaves out?

Questions come from a fixed seed and the repository itself: its words, its code, made-up tracebacks, noise, other
scripts; one in ten has 2,000 words. Each is ranked once; what would be packed is then rendered at several budgets and
in all formats, and read back by a parser of the format.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path
from unittest import mock

from causalist.errors import UsageError
from causalist.model.answer import AskOptions, Level, Pack, PackInput
from causalist.pack import MINIMUM_TOKENS, count_tokens, render_pack
from causalist.pipeline import answer_notes as answers
from causalist.pipeline.repository import Repository
from tests.pack.readers import read, visible_text

LARGEST = 20_000
_LONG_EVERY, _LONG_WORDS = 10, 2_000
_NOISE = ("lorem", "ipsum", "qwzx", "blorp", "12ab", "!!!", "???", "foo::bar", "--x=1", "🎉", "naïve", "ｆｕｌｌ",
          "数据库", "連接", "где", "ошибка", "오류", "मूल")  # fmt: skip


@dataclass(slots=True)
class Tally:
    """What happened in one format. `errors` are estimate / exact - 1 of packs that were counted by the estimate."""

    n_packs: int = 0
    n_over: int = 0
    n_unaccounted: int = 0
    n_with_omissions: int = 0
    fill: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)


def questions(repository: Repository, chance: random.Random, n: int) -> Iterator[str]:
    """`n` questions, the same for the same repository and state of `chance`."""
    terms = [term for term in repository.index.lexical.terms if len(term) > 2]
    names = list(repository.index.lexical.names)
    paths = list(repository.index.manifest.paths)
    for number in range(n):
        kind = number % 6

        def words(n: int) -> list[str]:
            return [chance.choice(chance.choice((terms, terms, names, _NOISE))) for _ in range(n)]

        if number % _LONG_EVERY == _LONG_EVERY - 1:
            yield " ".join(words(_LONG_WORDS))
        elif kind == 0:
            yield f"how does {' '.join(words(chance.randint(1, 6)))}?"
        elif kind == 1:
            yield " ".join(words(chance.randint(1, 40)))
        elif kind == 2:
            frames = (f'  File "{chance.choice(paths)}", line {chance.randint(1, 400)}, in {chance.choice(names)}'
                      for _ in range(chance.randint(1, 8)))  # fmt: skip
            yield "\n".join(["Traceback (most recent call last):", *frames, f"ValueError: {' '.join(words(4))}"])
        elif kind == 3:
            name, parameters = chance.choice(names), ", ".join(words(3))
            yield f"def {name}({parameters}):\n    return {chance.choice(names)}.{words(1)[0]}\n"
        elif kind == 4:
            yield f"{chance.choice(paths)} {' '.join(words(chance.randint(1, 8)))}"
        else:
            yield f"{' '.join(chance.choices(_NOISE, k=5))} {' '.join(words(3))} where?"


def pack_inputs(repository: Repository, asked: Iterator[str]) -> Iterator[PackInput]:
    """What `ask` would pack, at either level in turn; questions that find nothing give nothing."""
    caught: list[PackInput] = []

    def caught_pack(pack_input: PackInput, **_: object) -> Pack:
        caught.append(pack_input)
        return Pack("", 0, 0, "text", ())

    for number, question in enumerate(asked):
        caught.clear()
        level = Level.FILE if number % 2 else Level.SYMBOL
        with mock.patch.object(answers, "render_pack", caught_pack):
            try:
                repository.ask(question, AskOptions(level=level))
            except UsageError:
                continue  # a regular expression that does not compile
        yield from caught


def run(
    folder: Path, n_questions: int, budgets_each: int, exact: Callable[[str], int] | None, tallies: dict[str, Tally]
) -> None:
    """Adds the packs of one repository to `tallies`, by format, and by format and " (o200k)" for packs counted
    exactly."""
    repository = Repository.open(folder, exact_root=True)
    chance = random.Random(f"{folder.name} 7")
    for pack_input in pack_inputs(repository, questions(repository, chance, n_questions)):
        exact_format = chance.choice(list(MINIMUM_TOKENS))
        for form, minimum in MINIMUM_TOKENS.items():
            budgets = [minimum]
            budgets += [round(exp(chance.uniform(log(minimum), log(LARGEST)))) for _ in range(budgets_each - 1)]
            for budget in budgets:
                _one(pack_input, form, budget, count_tokens, "", exact, tallies)
            if exact is not None and form == exact_format:
                _one(pack_input, form, budgets[-1], exact, " (o200k)", None, tallies)


def _one(
    pack_input: PackInput,
    form: str,
    budget: int,
    counter: Callable[[str], int],
    label: str,
    exact: Callable[[str], int] | None,
    tallies: dict[str, Tally],
) -> None:
    pack = render_pack(pack_input, max_tokens=budget, format=form, counter=counter)
    tally = tallies.setdefault(form + label, Tally())
    text = visible_text(pack.text) if form == "html" else pack.text
    tally.n_packs += 1
    tally.n_over += max(pack.tokens, counter(text)) > budget
    tally.n_with_omissions += bool(pack.omitted)
    tally.n_unaccounted += not is_accounted(pack_input, pack)
    if pack.omitted:
        tally.fill.append(pack.tokens / budget)
    if exact is not None and text:
        truth = exact(text)
        tally.errors.append(counter(text) / truth - 1)


def is_accounted(pack_input: PackInput, pack: Pack) -> bool:
    """Whether all that is not in the pack is in `omitted`, and the pack itself says so."""
    found = read(pack.text, pack.format)
    missing = Counter(omission.what for omission in pack.omitted)
    n_edges = len(pack_input.edges) + len(pack_input.removed_edges)
    n_edges -= sum(edge in set(pack_input.removed_edges) for edge in pack_input.edges)
    says = not pack.omitted or any(mark in pack.text for mark in ("eft out: ", "<omitted ", '"omitted":{'))
    return (
        missing["item"] == len(pack_input.items) - found.n_items and missing["edge"] == n_edges - found.n_edges and says
    )
