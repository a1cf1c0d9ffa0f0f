"""A repository whose names are alike."""

import pytest

from causalist.pipeline.repository import Repository
from tests.cli.commands import write_all
from tests.pipeline.sample import in_memory

FILES = {
    "src/auth.py": (
        "TRIES = 3\n\n\n"
        "class Session:\n"
        "    limit = 5\n\n"
        "    def __init__(self, user):\n"
        "        self.user = user\n\n"
        "    def verify(self, token):\n"
        "        def same(a, b):\n"
        "            return a == b\n\n"
        "        return same(token, self.user)\n\n\n"
        "class AuthMiddleware:\n"
        "    def verify(self, request):\n"
        "        return Session(request.user).verify(request.token)\n"
    ),
    "src/app/auth.py": "def verify():\n    return 1\n",
    "src/app/Login.py": "import numpy\n\n\ndef logIn():\n    return numpy.zeros(1)\n",
    "src/app/__init__.py": "",
    "src/odd#name.py": "def odd():\n    return 0\n",
    "tests/test_auth.py": "def test_auth():\n    assert 1\n",
    "README.md": "# Shop\n\nHello.\n\n## Usage\n\nRun it.\n",
    "docs/guide.md": "# Guide\n\n## Usage of all\n\nRead it.\n",
}


@pytest.fixture(scope="session")
def named(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return in_memory(write_all(tmp_path_factory.mktemp("names") / "repo", FILES))
