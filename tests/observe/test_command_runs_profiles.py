"""What each test ran, by coverage data that the command wrote and by single tests of Go."""

import os
import stat
import sys
from pathlib import Path

import pytest

from causalist.observe.command_runs import run_go_tests
from tests.cli.commands import invoke, write_all
from tests.observe.programs import store_of

SHOP = {
    "shop.py": "def price(x):\n    return net(x)\n\n\ndef net(x):\n    return x\n\n\ndef unused():\n    return 1\n",
    "test_shop.py": "from shop import net, price\n\n\ndef test_price():\n    price(1)\n\n\n"
    "def test_net():\n    net(1)\n",
}
LCOV = """TN:test_shop.py::test_price
SF:shop.py
DA:2,1
DA:6,1
end_of_record
TN:test_shop.py::test_net
SF:shop.py
DA:2,0
DA:6,3
DA:10,0
end_of_record
"""
# Stands for `go`: one package with two tests, of which the first runs Add alone.
GO = """#!{python}
import os, sys
arguments = sys.argv[1:]
if arguments[0] == "list":
    print("example.com/shop\\t" + os.getcwd())
elif "-c" in arguments:
    assert "-tags=slow" in arguments and "-v" not in arguments, arguments
    out = arguments[arguments.index("-o") + 1]
    with open(out, "w") as file:
        file.write(open(__file__).read())
    os.chmod(out, 0o755)
elif "-test.list" in arguments:
    print("TestAdd\\nTestTotal")
elif arguments[0].startswith("-test.run="):
    name = arguments[0][len("-test.run=^"):-1]
    with open(arguments[1].partition("=")[2], "w") as file:
        file.write("mode: set\\nexample.com/shop/cart.go:3.20,5.2 1 1\\n")
        file.write("example.com/shop/cart.go:7.22,9.2 1 %d\\n" % (name == "TestTotal"))
"""
CART = {
    "go.mod": "module example.com/shop\n",
    "cart.go": "package shop\n\nfunc Add(n int) {\n\t_ = n\n}\n\nfunc Total() int {\n\treturn 1\n}\n",
    "cart_test.go": 'package shop\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) { Add(1) }\n\n'
    "func TestTotal(t *testing.T) {\n\tAdd(1)\n\tTotal()\n}\n",
}


def _tests(root: Path) -> dict[str, set[str]]:
    return {test: {each.id for each in versions} for test, (_, versions) in store_of(root).tests.items()}


@pytest.mark.slow
def test_coverage_data_that_the_command_writes_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = f"import pathlib\npathlib.Path('lcov.info').write_text({LCOV!r})\n"
    monkeypatch.chdir(write_all(tmp_path, SHOP | {"write.py": write}))
    assert invoke("observe", "--", sys.executable, "write.py").code == 0
    assert _tests(tmp_path) == {
        "test_shop.py::test_price": {"shop.py::price", "shop.py::net"},
        "test_shop.py::test_net": {"shop.py::net"},
    }
    (tmp_path / "lcov.info").unlink()  # what is kept does not need it
    assert "1 test\n" in invoke("tests", "price").stdout


@pytest.mark.slow
def test_older_data_is_not_of_this_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_all(tmp_path, SHOP | {"lcov.info": LCOV}))
    os.utime(tmp_path / "lcov.info", (1, 1))
    assert invoke("observe", "--", sys.executable, "-c", "").code == 0
    assert _tests(tmp_path) == {}


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no scripts with an interpreter line")
def test_each_test_of_go_runs_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = write_all(tmp_path / "bin", {"go": GO.format(python=sys.executable)}) / "go"
    go.chmod(go.stat().st_mode | stat.S_IXUSR)
    root = write_all(tmp_path / "root", CART)
    monkeypatch.chdir(root)
    monkeypatch.setenv("PATH", str(go.parent), prepend=os.pathsep)
    assert invoke("observe", "--", "go", "test", "-v", "-run", "X", "-tags=slow", "./...").code == 0
    assert _tests(root) == {
        "cart_test.go::TestAdd": {"cart.go::Add"},
        "cart_test.go::TestTotal": {"cart.go::Add", "cart.go::Total"},
    }


def test_other_commands_and_a_missing_go_are_left_alone(tmp_path: Path) -> None:
    assert run_go_tests(tmp_path, ["make", "test"], {}, 1.0) == 0
    assert run_go_tests(tmp_path, ["go", "build"], {}, 1.0) == 0
    assert run_go_tests(tmp_path, [str(tmp_path / "go"), "test"], {}, 1.0) == 0
