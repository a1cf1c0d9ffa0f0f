"""Repositories to ask."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from causalist.cli import install
from causalist.cli.install import _check_interpreter as check_interpreter
from causalist.errors import ExtraMissing
from tests.cli.commands import CHECKOUT, invoke, write_all
from tests.users import ORDINARY_USER, ordinary_user

SMALL = {
    "shop/cart.py": (
        "from shop.prices import price_of\n\n\n"
        "class Cart:\n"
        '    """Holds what a customer wants to buy."""\n\n'
        "    def total(self, items):\n"
        "        return sum(price_of(item) for item in items)\n"
    ),
    "shop/prices.py": (
        'def price_of(item):\n    """The price of an item with tax."""\n    return with_tax(item.net)\n\n\n'
        "def with_tax(net):\n    return net * 1.2\n"
    ),
    "shop/report.py": (
        "from shop.cart import Cart\n\n\ndef print_invoice(items):\n    return Cart().total(items)\n\n\n"
        "def total():\n    return 0\n"
    ),
    "README.md": "# Shop\n\nInvoices are printed from carts.\n",
}


@pytest.fixture(autouse=True)
def no_user_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in [name for name in os.environ if name.startswith(("GIT_", "CAUSALIST_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CAUSALIST_NO_BACKGROUND", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))


@cache
def _error_of(program: str) -> ExtraMissing | None:
    assert program == sys.executable
    try:
        check_interpreter()
    except ExtraMissing as error:
        return error
    return None


@pytest.fixture
def interpreter_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of hundreds of installations would start it, to hear the same."""

    def check() -> None:
        if error := _error_of(sys.executable):
            raise error

    monkeypatch.setattr(install, "_check_interpreter", check)
    monkeypatch.setattr(install, "starts_by_name", lambda: False)  # whatever is on the search path here


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder without git."""
    return write_all(tmp_path / "small", SMALL)


@pytest.fixture
def committed(small: Path) -> Path:
    """The same under git, with one commit."""
    name = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for arguments in (("init", "-q"), ("add", "-A"), (*name, "commit", "-q", "-m", "first")):
        subprocess.run(["git", *arguments], cwd=small, check=True)
    return small


@pytest.fixture(scope="session")
def taskboard_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An indexed copy of a sample repository, for tests that only read."""
    folder = tmp_path_factory.mktemp("samples") / "taskboard-api"
    shutil.copytree(CHECKOUT / "sample_repos" / "taskboard-api", folder, ignore=shutil.ignore_patterns(".causalist"))
    return folder


@pytest.fixture
def ordinary(small: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A folder and a switch to a user whom permissions bind, because they do not bind root."""
    # Nothing can be imported from root's folders after the switch.
    assert invoke("ask", "price", "--repo", str(small)).code == 0
    with ordinary_user() as (place, switch):
        folder = write_all(place / "folder", SMALL)
        if os.geteuid() == 0:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, ORDINARY_USER, -1)
        yield folder, switch
