"""Names and parts of names, and what they find in which order."""

import pytest

from causalist.errors import UsageError
from causalist.model.string_table import StringTable
from causalist.navigate.names import nearest
from causalist.pipeline.repository import Repository


def found(repository: Repository, name: str, kind: str | None = None, limit: int = 20) -> list[str]:
    return [hit.id for hit in repository.find(name, kind=kind, limit=limit)]


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("Session", "src/auth.py::Session"),
        ("session", "src/auth.py::Session"),
        ("Sess", "src/auth.py::Session"),
        ("AuthMw", "src/auth.py::AuthMiddleware"),
        ("AM", "src/auth.py::AuthMiddleware"),
        ("Middle", "src/auth.py::AuthMiddleware"),
        ("Session.ver", "src/auth.py::Session.verify"),
        ("AuthMiddleware.verify", "src/auth.py::AuthMiddleware.verify"),
        ("Login.py", "src/app/Login.py"),
        ("app/auth.py", "src/app/auth.py"),
        ("logni", "src/app/Login.py"),  # two letters that changed places
        ("Sesion", "src/auth.py::Session"),
        ("AuthMidle", "src/auth.py::AuthMiddleware"),  # a beginning with a letter too few
        ("usage", "README.md#usage"),
        ("nump", "external:numpy"),
        ("sesn", "src/auth.py::Session"),  # letters in order
    ],
)
def test_the_best(named: Repository, name: str, first: str) -> None:
    assert found(named, name)[0] == first


def test_better_fits_come_first(named: Repository) -> None:
    hits = named.find("auth")
    assert [hit.id for hit in hits] == [
        "src/auth.py",  # two files by that name; of them the one that more is linked with
        "src/app/auth.py",
        "src/auth.py::AuthMiddleware",
        "tests/test_auth.py",
        "tests/test_auth.py::test_auth",
    ]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_slips_only_where_nothing_fits(named: Repository) -> None:
    assert set(found(named, "verify")) == {
        "src/app/auth.py::verify", "src/auth.py::Session.verify", "src/auth.py::AuthMiddleware.verify"
    }  # fmt: skip


def test_kind_and_limit(named: Repository) -> None:
    assert found(named, "auth", kind="file") == [
        i for i in found(named, "auth") if i.endswith(".py")
    ]  # fmt: skip
    assert found(named, "verify", kind="function") == ["src/app/auth.py::verify"]
    assert found(named, "auth", limit=2) == found(named, "auth")[:2]
    assert found(named, "usage", kind="class") == []


@pytest.mark.parametrize("name", ["", " ", ".", "::", "qqqzzz", "x" * 5000, "\x00", "\udc80", ".*", "["])
def test_nothing(named: Repository, name: str) -> None:
    assert found(named, name) == []


def test_out_of_range(named: Repository) -> None:
    with pytest.raises(UsageError, match="--limit must be at least 1, not 0"):
        named.find("auth", limit=0)
    with pytest.raises(UsageError, match=r"unknown node kind 'klass'\. Choose from class, constant"):
        named.find("auth", kind="klass")


def _osa(a: bytes, b: bytes) -> int:
    """The distance by its definition, one cell at a time."""
    d = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                d[i, j] = min(d[i, j], d[i - 2, j - 2] + 1)
    return d[len(a), len(b)]


@pytest.mark.parametrize("beginnings", [False, True])
@pytest.mark.parametrize("wanted", ["abcabc", "aab", "bbaacc", "äbcabc"])
def test_nearest_is_the_distance_by_its_definition(wanted: str, beginnings: bool) -> None:
    names = sorted(
        {"".join("abcä"[(n * 7 + n // k + k) % 4] for k in range(1, 1 + n % 10)) for n in range(400)}
        | {"äbcab", "äcbabc"}
    )
    allowed = min(3, len(wanted.encode()) // 3)

    def distance(name: str) -> int:
        ends = range(len(name.encode()) + 1) if beginnings else [len(name.encode())]
        return min(_osa(wanted.encode(), name.encode()[:end]) for end in ends)

    near = {i for i, name in enumerate(names) if name and distance(name) <= allowed}
    assert near
    result = nearest(StringTable.from_strings(names), wanted, 1000, beginnings=beginnings)
    assert set(result) == near
    distances = [distance(names[i]) for i in result]
    assert distances == sorted(distances)
