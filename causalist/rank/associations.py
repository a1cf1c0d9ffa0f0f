"""Words that stand in the same company wherever programs are written: who asks about *retries* finds what *backs off*.

`associations.txt` has for each stem those most like it with the hundredths of the cosine of their vectors. They were learned from
definitions and commits of public repositories (`tests/benchmarks/associations`). Such words mean related things and not
the same, so that what they find is a signal of its own.
"""

from collections.abc import Sized
from functools import lru_cache
from importlib.resources import files as resource_files

from causalist.model.lexical import LexicalIndex
from causalist.rank.question import Question
from causalist.rank.synonyms import asked_briefly

# Of the words that the repository has, for each of the question. Five and twenty did no better.
MOST_FOR_A_WORD = 10


@lru_cache(maxsize=1)
def _lines() -> bytes:
    """The file with a line break before each stem."""
    return b"\n" + resource_files("causalist.rank").joinpath("associations.txt").read_bytes()


@lru_cache(maxsize=4096)
def associated(stem: str) -> tuple[tuple[str, float], ...]:
    """(stem, cosine) of what is most like a stem, best first; empty where nothing was learned of it."""
    lines = _lines()
    start = lines.find(f"\n{stem}\t".encode())
    if start < 0:
        return ()
    start = lines.index(b"\t", start) + 1
    fields = lines[start : lines.index(b"\n", start)].decode().split(" ")
    return tuple((word, int(cosine) / 100) for word, cosine in zip(fields[::2], fields[1::2], strict=True))


def associated_terms(question: Question, lexical: LexicalIndex, known: Sized) -> dict[int, float]:
    """Weight by number, of terms of the repository that are like one of the question and are not in it: the square of
    the cosine times the weight of the word that they stand for, the highest of all such. Nothing where the question, or
    its title, is long, or where the repository has none of its words (`known`): nothing is found then, and not what
    happens to be like something else."""
    found: dict[int, float] = {}
    if not known:
        return found
    for term, weight in asked_briefly(question).items():
        numbers = ((lexical.terms.position(other), cosine, other) for other, cosine in associated(term))
        there = [(number, cosine) for number, cosine, other in numbers if number >= 0 and other not in question.terms]
        for number, cosine in there[:MOST_FOR_A_WORD]:
            found[number] = max(found.get(number, 0.0), weight * cosine**2)
    return found
