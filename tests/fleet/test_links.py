"""Edges between hand-made repositories; the expected ones are worked out by hand."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("fsspec")
pytest.importorskip("pyarrow")

from causalist.fleet import Fleet, FleetStore, Member, build_shard
from causalist.fleet.links.join import link_shards
from causalist.store import FactsCache

pytestmark = pytest.mark.slow

_HTTP = {
    "pyproject.toml": '[project]\nname = "Fast_Http"\nversion = "2.1"\n',
    "src/fast_http/__init__.py": "from ._client import Client, get\nfrom . import errors\n",
    "src/fast_http/_client.py": (
        "class _Base:\n    def close(self):\n        pass\n\n\n"
        "class Client(_Base):\n    def get(self, url):\n        return url\n\n\n"
        "def get(url):\n    return Client().get(url)\n"
    ),
    "src/fast_http/errors.py": "class TooSlow(Exception):\n    pass\n",
    "tests/test_client.py": "import fast_http\n",
}
_SHOP = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\ndependencies = ["fast-http>=2"]\n',
    "shop/__init__.py": "",
    "shop/prices.py": (
        "import json\n"
        "from fast_http import Client, errors\n"
        "\n\n"
        "class Prices:\n"
        "    def __init__(self):\n"
        "        self.client = Client()\n"
        "\n"
        "    def fetch(self):\n"
        "        try:\n"
        "            return json.loads(self.client.get('/prices'))\n"
        "        except errors.TooSlow:\n"
        "            self.client.close()\n"
    ),
}


def find_links(folder: Path, repositories: Mapping[str, Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return the edges between repositories of these files."""
    store, shards = FleetStore(str(folder / "store")), []
    for name, files in repositories.items():
        for path, text in files.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_text(text)
        shards.append(build_shard(Member(name, str(folder / name)), folder / name, store, cache=FactsCache()))
    rows: list[dict[str, Any]] = link_shards(shards, store).to_pylist()
    return rows


def shorten(rows: list[dict[str, Any]]) -> set[tuple[str, str, str, int]]:
    """Return (source, rule, target, line), each node with its repository in front."""
    return {
        (f"{row['source_repository']}:{row['source']}", row["rule"], f"{row['target_repository']}:{row['target']}",
         row["row"] + 1)
        for row in rows
    }  # fmt: skip


def test_names_of_a_python_package_lead_through_its_init_to_definitions(tmp_path: Path) -> None:
    rows = find_links(tmp_path, {"http": _HTTP, "shop": _SHOP})
    file, fetch = "shop:shop/prices.py", "shop:shop/prices.py::Prices.fetch"
    assert shorten(rows) == {
        (file, "package-import", "http:src/fast_http/__init__.py", 2),
        (file, "package-import", "http:src/fast_http/errors.py", 2),
        (file, "symbol-import", "http:src/fast_http/_client.py::Client", 2),
        ("shop:shop/prices.py::Prices.__init__", "symbol-call", "http:src/fast_http/_client.py::Client", 7),
        (fetch, "symbol-call", "http:src/fast_http/_client.py::Client.get", 11),
        (fetch, "symbol-use", "http:src/fast_http/errors.py::TooSlow", 12),
        (fetch, "symbol-call", "http:src/fast_http/_client.py::_Base.close", 13),
    }
    assert {(row["package"], row["version"], row["note"]) for row in rows} == {("fast-http", "2.1", "only")}


@pytest.mark.parametrize(
    ("wanted", "target", "note"),
    [(">=2", "http", "declared"), ("<2", "http1", "declared"), (">=9", "http", "outside of the declared range")],
)
def test_the_version_that_a_repository_declares_is_meant(tmp_path: Path, wanted: str, target: str, note: str) -> None:
    old = {**_HTTP, "pyproject.toml": '[project]\nname = "fast-http"\nversion = "1.9"\n'}
    shop = {**_SHOP, "pyproject.toml": _SHOP["pyproject.toml"].replace(">=2", wanted)}
    rows = find_links(tmp_path, {"http": _HTTP, "http1": old, "shop": shop})
    assert {(row["target_repository"], row["note"]) for row in rows} == {(target, note)}


def test_what_a_package_passes_on_from_another_leads_there(tmp_path: Path) -> None:
    facade = {
        "setup.py": "from setuptools import setup\nsetup(name='facade', version='3', packages=['facade'])\n",
        "facade/__init__.py": "from fast_http import Client as Session\nfrom fast_http.errors import *\n",
    }
    user = {
        "main.py": "import facade\n\n\ndef run():\n    facade.Session().get('x')\n    raise facade.TooSlow\n",
    }
    rows = [row for row in find_links(tmp_path, {"http": _HTTP, "facade": facade, "user": user}) if row["row"] > 1]
    assert shorten(rows) == {
        ("user:main.py::run", "symbol-call", "http:src/fast_http/_client.py::Client", 5),
        ("user:main.py::run", "symbol-call", "http:src/fast_http/_client.py::Client.get", 5),
        ("user:main.py::run", "symbol-use", "http:src/fast_http/errors.py::TooSlow", 6),
    }


def test_an_inherited_method_is_that_of_the_base_elsewhere(tmp_path: Path) -> None:
    user = {
        "main.py": (
            "from fast_http import Client\n\n\nclass Mine(Client):\n    def load(self):\n        return self.get('x')\n"
        )
    }
    rows = find_links(tmp_path, {"http": _HTTP, "user": user})
    assert ("user:main.py::Mine", "symbol-base", "http:src/fast_http/_client.py::Client", 4) in shorten(rows)
    assert ("user:main.py::Mine.load", "symbol-call", "http:src/fast_http/_client.py::Client.get", 6) in shorten(rows)


def test_own_modules_and_local_names_are_no_uses_of_others(tmp_path: Path) -> None:
    user = {
        "fast_http/__init__.py": "class Client:\n    pass\n",
        "main.py": "from fast_http import Client\n\n\ndef run(get):\n    Client()\n    get('x')\n",
    }
    assert find_links(tmp_path, {"http": _HTTP, "user": user}) == []


def test_the_order_of_repositories_does_not_matter_and_unchanged_links_are_read(tmp_path: Path) -> None:
    one = find_links(tmp_path / "a", {"http": _HTTP, "shop": _SHOP})
    other = find_links(tmp_path / "b", {"shop": _SHOP, "http": _HTTP})
    assert one == other
    Fleet.add(tmp_path, [str(tmp_path / "a" / "http"), str(tmp_path / "a" / "shop")])
    fleet = Fleet.open(tmp_path)
    fleet.index()
    assert fleet.links().to_pylist() == one
    assert fleet.links("http").num_rows == len(one)
    table = tmp_path / "store" / "tables" / "links.parquet"
    before = table.stat().st_mtime_ns
    assert fleet.links().to_pylist() == one and table.stat().st_mtime_ns == before


def test_forks_and_copies_are_not_counted_twice(tmp_path: Path) -> None:
    copy = {f"third_party/http/{path}": text for path, text in _HTTP.items()} | {"tool.py": "def run():\n    pass\n"}
    user = {"main.py": "import fast_http\n\n\ndef run():\n    fast_http.get('x')\n"}
    rows = find_links(tmp_path, {"acme/fast-http": _HTTP, "someone/fork": _HTTP, "acme/tools": copy, "user": user})
    assert shorten(rows) == {
        ("user:main.py", "package-import", "acme/fast-http:src/fast_http/__init__.py", 1),
        ("user:main.py::run", "symbol-call", "acme/fast-http:src/fast_http/_client.py::get", 5),
    }


def test_a_name_goes_before_a_submodule_of_that_name(tmp_path: Path) -> None:
    width = {
        "pyproject.toml": '[project]\nname = "width"\nversion = "1"\n',
        "width/__init__.py": "from .width import width\n",
        "width/width.py": "def width(c):\n    return 1\n",
        "width/table.py": "WIDE = []\n",
    }
    user = {"main.py": "from width import width, table\n"}
    assert shorten(find_links(tmp_path, {"width": width, "user": user})) == {
        ("user:main.py", "package-import", "width:width/__init__.py", 1),
        ("user:main.py", "package-import", "width:width/table.py", 1),
        ("user:main.py", "symbol-import", "width:width/width.py::width", 1),
    }


def test_a_shared_namespace_is_nobodys(tmp_path: Path) -> None:
    extend = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
    one = {
        "setup.cfg": "[metadata]\nname = acme.one\nversion = 1\n[options]\npackages = acme, acme.one\n",
        "acme/__init__.py": extend,
        "acme/one/__init__.py": "def f():\n    pass\n",
    }
    user = {"main.py": "from acme.one import f\nfrom acme import two\nfrom acme.three import x\n"}
    assert shorten(find_links(tmp_path, {"one": one, "user": user})) == {
        ("user:main.py", "package-import", "one:acme/one/__init__.py", 1),
        ("user:main.py", "symbol-import", "one:acme/one/__init__.py::f", 1),
    }


def test_the_command_lists_edges_and_refuses_unknown_names(tmp_path: Path) -> None:
    find_links(tmp_path / "a", {"http": _HTTP, "shop": _SHOP})
    Fleet.add(tmp_path, [str(tmp_path / "a" / "http"), str(tmp_path / "a" / "shop")])
    Fleet.open(tmp_path).index()
    listed = _run("links", "shop", "--fleet", str(tmp_path))
    assert (listed.returncode, listed.stderr) == (0, "")
    fetch = "shop:shop/prices.py::Prices.fetch -> http:src/fast_http/_client.py::Client.get  calls (symbol-call, 0.95)"
    assert fetch in listed.stdout.splitlines()
    rows = json.loads(_run("links", "--fleet", str(tmp_path), "--json").stdout)["links"]
    assert sorted(row["line"] for row in rows) == [2, 2, 2, 7, 11, 12, 13]
    unknown = _run("links", "nobody", "--fleet", str(tmp_path))
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert unknown.stderr.startswith("causalist: fleet: ") and "Traceback" not in unknown.stderr


def _run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "causalist", "fleet", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)
