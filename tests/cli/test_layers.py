"""`causalist layers`: lines, the document, exit codes."""

import json
from pathlib import Path

from tests.cli.commands import invoke, write_all

SHOP = {
    "shop/models/cart.py": (
        "from shop.views.page import draw\n\n\nclass Cart:\n    def show(self):\n        draw(self)\n"
    ),
    "shop/views/page.py": "from shop.pricing import total\n\n\ndef draw(cart):\n    return total(cart)\n",
    "shop/pricing.py": "def total(cart):\n    return 0\n",
    "README.md": "# Shop\n",
}


def test_lines(tmp_path: Path) -> None:
    done = invoke("layers", cwd=write_all(tmp_path, SHOP))
    assert (done.code, done.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[:4] == [
        "api 1 file 1 definition",
        "logic 1 file 1 definition",
        "data 1 file 2 definitions",
        "docs 1 file 0 definitions",
    ]
    assert lines[lines.index("api, most used:") + 1] == "1 shop/views/page.py::draw shop/views/page.py:4"
    table = lines.index("uses, rows of columns:")
    assert lines[table + 1 : table + 6] == [
        "api logic data docs",
        "api . 2 . .",  # the import and the call of total
        "logic . . . .",
        "data 2 . . .",  # the import and the call of draw
        "docs . . . .",
    ]
    back = lines[table + 7 :]
    assert back[0] == "2 of 4 uses lead from a lower layer to a higher one:"
    calls, imports = sorted(back[1:], key=lambda line: " imports " in line)
    assert calls.startswith("data -> api shop/models/cart.py::Cart.show calls shop/views/page.py::draw import ")
    assert calls.endswith(" shop/models/cart.py:6")
    assert imports.endswith(" shop/models/cart.py:1")


def test_document(tmp_path: Path) -> None:
    done = invoke("layers", "--json", "--limit", "1", "--repo", str(write_all(tmp_path, SHOP)))
    assert done.code == 0
    document = json.loads(done.stdout)
    assert list(document) == ["format_version", "layers", "uses", "n_back_edges", "back_edges"]
    api = document["layers"][0]
    assert (api["layer"], api["files"], api["definitions"]) == ("api", 1, 1)
    (hottest,) = api["hottest"]
    assert (hottest["node"], hottest["layer"], hottest["tier"]) == ("shop/views/page.py::draw", "api", "leaf")
    assert hottest["fan_in"] == 1  # as `total` has, whose id comes first
    assert document["uses"] == [
        {"source": "api", "target": "logic", "n": 2},
        {"source": "data", "target": "api", "n": 2},
    ]
    (back,) = document["back_edges"]
    assert document["n_back_edges"] == 2
    assert (back["source_layer"], back["target_layer"], back["steps"]) == ("data", "api", 2)
    assert back["edge"]["source"].startswith("shop/models/cart.py")


def test_less_certain_uses_are_left_out(tmp_path: Path) -> None:
    shop = str(write_all(tmp_path, SHOP))
    assert json.loads(invoke("layers", "--json", "--min-confidence", "1", "--repo", shop).stdout)["uses"] == []
    assert "lead from" not in invoke("layers", "--min-confidence", "1", "--repo", shop).stdout


def test_nothing_to_index(tmp_path: Path) -> None:
    done = invoke("layers", "--json", "--repo", ".", cwd=tmp_path)
    assert done.code == 1
    assert json.loads(done.stdout) == {
        "format_version": 1, "layers": [], "uses": [], "n_back_edges": 0, "back_edges": []
    }  # fmt: skip


def test_files_of_one_layer(tmp_path: Path) -> None:
    """Page is used by the import and the call of the cart, and uses the price by an import and a call."""
    folder = write_all(tmp_path, SHOP)
    done = invoke("layers", "api", cwd=folder)
    assert (done.code, " ".join(done.stdout.split())) == (
        0, "shop/views/page.py 1 definition used 2 times uses others 2 times",
    )  # fmt: skip
    (file,) = json.loads(invoke("layers", "data", "--json", cwd=folder).stdout)["files"]
    assert file == {"path": "shop/models/cart.py", "definitions": 2, "used": 0, "uses": 2}
    assert invoke("layers", "ui", cwd=folder).code == 1
    wrong = invoke("layers", "views", cwd=folder)
    assert wrong.code == 2 and "Choose from infra, data, logic, api, ui" in wrong.stderr


def test_vendored_code_has_no_layers(tmp_path: Path) -> None:
    own = "from vendor.lib import helper\n\n\ndef run():\n    return helper()\n"
    root = write_all(tmp_path, {"app/run.py": own, "vendor/lib.py": "def helper():\n    return 1\n"})
    document = json.loads(invoke("layers", "--json", "--repo", str(root)).stdout)
    assert [(each["layer"], each["files"], each["definitions"]) for each in document["layers"]] == [("logic", 1, 1)]
    assert document["uses"] == []
