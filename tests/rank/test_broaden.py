"""Words that the repository lacks are replaced by those that begin alike."""

from causalist.rank import broadened, read_question
from tests.model.corpus import Def, corpus

SHOP = corpus({"shop.py": [Def("authenticate", "authorise"), Def("pay", "payment payload")]})


def added(text: str, least_alike: int) -> dict[str, float] | None:
    question = read_question(text)
    other = broadened(question, SHOP.lexical, least_alike)
    return other and {term: weight for term, weight in other.terms.items() if term not in question.terms}


def test_the_longest_common_beginning_decides() -> None:
    """`authority` is stemmed to `author`, six letters; all of it stands at the beginning of `authoris`."""
    found = added("authority", 5)
    assert found is not None and set(found) == {"authoris"} and found["authoris"] == 1.0


def test_a_shorter_beginning_weighs_less() -> None:
    """Of `authxy` four letters are those of two terms."""
    assert added("authxy", 5) is None
    assert added("authxy", 3) == {"authent": 4 / 6, "authoris": 4 / 6}


def test_words_that_are_known_stay_alone() -> None:
    assert added("payment", 3) is None
