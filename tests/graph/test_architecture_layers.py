"""Layers of files and of what they define, and tiers of nodes by their fan-in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.graph import build_graph, relink
from causalist.graph.architecture_layers import BASE_WORDS, FUNCTIONS, PACKAGES, WEAK_WORDS, WORDS, fan_in, rank_tiers
from causalist.model.graph import EdgeKind
from causalist.model.node_ids import Layer, NodeKind, Tier
from causalist.parse import load_settings
from tests.graph.test_build import link
from tests.graph.test_incremental import facts_of, without_bodies
from tests.graphs import make_graph
from tests.indexes import differences


def layers(files: dict[str, str]) -> dict[str, str]:
    graph = link(files).graph
    found = {node: graph.layer(i) for i, node in enumerate(graph.nodes.ids)}
    assert all((layer is None) == node.startswith("external:") for node, layer in found.items())
    return {node: layer for node, layer in found.items() if layer is not None}


@pytest.mark.parametrize(
    ("path", "layer"),
    [
        ("src/app.py", "logic"),
        ("tests/user_controller.py", "test"),
        ("docs/api.md", "docs"),
        ("LICENSE", "docs"),
        ("license.py", "logic"),
        ("setup.cfg", "config"),
        ("examples/shop/vite.config.ts", "config"),
        (".fixer.php", "config"),
        ("Dockerfile", "infra"),
        ("services/shop/web.Dockerfile", "infra"),
        (".github/workflows/ci.yml", "infra"),
        ("infra/main.tf", "infra"),
        ("scripts/release.sh", "infra"),
        ("shop/migrations/0001_initial.py", "data"),
        ("db/schema.sql", "data"),
        ("proto/shop.proto", "api"),
        ("src/Cart.tsx", "ui"),
        ("src/cart.vue", "ui"),
        ("shop/templates/cart.html", "ui"),
        ("locale/de/messages.po", "ui"),
        # the last word of the name, then folders from the inside out
        ("src/user_controller.py", "api"),
        ("src/UserRepository.java", "data"),
        ("src/users/user.controller.ts", "api"),
        ("src/models/services/pricing.py", "logic"),
        ("src/controllers/controller_names_of_something.py", "api"),
        ("src/api/v1/__init__.py", "api"),
        # a word means what it means in the language
        ("shop/views/cart.py", "api"),
        ("shop/views/cart.js", "ui"),
        # said in passing: only where nothing else is
        ("src/schema/cart.py", "data"),
        ("api/schema/cart.py", "api"),
        ("src/handlers/cart.py", "logic"),
        # and some words only in the name of a file, or of a folder
        ("shop/main.py", "ui"),
        ("src/main/java/org/shop/Cart.java", "logic"),
        ("scripts/measure.py", "infra"),
        ("src/scripts.py", "logic"),
    ],
)
def test_the_path_says_it(path: str, layer: str) -> None:
    assert layers({path: ""})[path] == layer


@pytest.mark.parametrize(
    ("path", "text", "layer"),
    [
        ("a.py", "import sqlite3\n", "data"),
        ("a.py", "from aiohttp.web import Request\n", "api"),
        ("a.py", "from aiohttp import ClientSession\n", "logic"),
        ("a.py", "import os, sys, logging\n", "logic"),
        ("a.py", "from . import sqlite3\n", "logic"),
        ("a.ts", "import express from 'express'\n", "api"),
        ("a.ts", "import { useState } from 'react'\n", "ui"),
        ("a.ts", "import { a } from 'react-like'\n", "logic"),
        ("a.ts", "import { Get } from '@nestjs/common'\n", "api"),
        ("a.go", 'package a\n\nimport "net/http"\n', "api"),
        ("a.go", 'package a\n\nimport "net"\n', "infra"),
        ("a.go", 'package a\n\nimport "net/url"\n', "logic"),
        ("a.rs", "use std::net::TcpStream;\n", "infra"),
        ("a.rs", "use std::collections::HashMap;\n", "logic"),
        ("A.java", "import java.net.Socket;\nclass A {}\n", "infra"),
        ("A.java", "import java.net.URL;\nclass A {}\n", "logic"),
        ("a.php", "<?php\nfunction f() { return curl_init('x'); }\n", "infra"),
        # the layer of most packages, of as many the higher one
        ("a.py", "import sqlite3, socket, ssl\n", "infra"),
        ("a.py", "import sqlite3, bottle\n", "api"),
        # what draws screens decides whatever the folder is called; other packages do not
        ("controllers/a.ts", "import { Controller } from '@hotwired/stimulus'\n", "ui"),
        ("controllers/a.ts", "import { Pool } from 'pg'\n", "api"),
    ],
)
def test_what_is_imported_says_it(path: str, text: str, layer: str) -> None:
    assert layers({path: text})[path] == layer


def test_a_package_says_nothing_about_itself() -> None:
    files = {"go.mod": "module github.com/gorilla/x\n", "a.go": 'package x\n\nimport "github.com/gorilla/x/b"\n'}
    assert layers(files)["a.go"] == "logic"
    files["shop/go.mod"] = "module example.com/shop\n"
    files["shop/main.go"] = 'package main\n\nimport "github.com/gorilla/x/b"\n'
    assert layers(files)["shop/main.go"] == "api"


def test_types_belong_to_what_they_are_called_or_derive_from() -> None:
    found = layers(
        {
            "shop.py": "class CartRepository:\n    def save(self): ...\n\n"
            "class Item(orm.Model): ...\n\nclass Price: ...\n\ndef total(): ...\n"
        }
    )
    assert found == {
        "shop.py": "data",  # as most of its types that say something
        "shop.py::CartRepository": "data",
        "shop.py::CartRepository.save": "data",
        "shop.py::Item": "data",
        "shop.py::Price": "data",
        "shop.py::total": "data",
    }
    in_service = layers({"services/shop.py": "class CartRepository:\n    def save(self): ...\n\ndef total(): ...\n"})
    assert in_service["services/shop.py::CartRepository.save"] == "data"
    assert in_service["services/shop.py::total"] == "logic"


def test_a_type_takes_the_layer_of_what_it_extends() -> None:
    files = {
        "wire.py": "import socket\n\nclass Sender: ...\n",
        "b.py": "from wire import Sender\n\nclass Loud(Sender):\n    def send(self): ...\n",
        "c.py": "from b import Loud\n\nclass Louder(Loud): ...\n",
        "services/d.py": "from wire import Sender\n\nclass Quiet(Sender): ...\n",
    }
    found = layers(files)
    assert found["b.py::Loud.send"] == found["b.py"] == found["c.py::Louder"] == "infra"
    assert found["services/d.py::Quiet"] == "logic"  # its folder says it


def test_a_file_that_says_nothing_belongs_to_most_of_its_folder() -> None:
    web = "import bottle\n"
    files = {"x/a.py": web, "x/b.py": web, "x/c.py": web, "x/d.py": "", "x/e.txt": "words", "y/d.py": ""}
    found = layers(files)
    assert (found["x/d.py"], found["x/e.txt"], found["y/d.py"]) == ("api", "docs", "logic")
    # three of five are fewer than two thirds
    assert layers({**files, "x/f.py": ""})["x/d.py"] == "logic"


def test_tests_that_stand_in_code_are_tests() -> None:
    found = layers(
        {"net.rs": "use std::net::TcpStream;\nfn f() {}\n#[cfg(test)]\nmod tests {\n  #[test]\n  fn g() {}\n}\n"}
    )
    assert (found["net.rs"], found["net.rs::f"], found["net.rs::tests.g"]) == ("infra", "infra", "test")


@pytest.mark.parametrize(
    ("path", "text", "changed"),
    [
        # what others get from a file, by their folder or by what they extend, and what its own calls say of it
        ("x/wire.py", "import sqlite3\n\nclass Sender: ...\n",
         {"x/wire.py": "data", "x/wire.py::Sender": "data", "b.py": "data", "b.py::Loud": "data", "x/d.py": "logic"}),
        ("x/wire.py", "class Sender: ...\n",
         dict.fromkeys(("x/wire.py", "x/wire.py::Sender", "b.py", "b.py::Loud", "x/d.py"), "logic")),
        ("x/wire.py", "import socket\n\ndef run(): ...\n\nclass Sender: ...\n", {"x/wire.py::run": "infra"}),
        ("shop.php", "<?php\nfunction get($url) { return trim($url); }\n",
         {"shop.php": "logic", "shop.php::get": "logic"}),
        ("other.php", "<?php\nfunction f() { return 1; }\n", {}),
    ],
)  # fmt: skip
def test_layers_after_an_edit(path: str, text: str, changed: dict[str, str]) -> None:
    before = {
        "b.py": "from x.wire import Sender\n\nclass Loud(Sender): ...\n",
        "other.php": "<?php\n",
        "shop.php": "<?php\nfunction get($url) { return curl_exec(curl_init($url)); }\n",
        "x/a.py": "import ssl\n",
        "x/c.py": "import select\n",
        "x/d.py": "",
        "x/wire.py": "import socket\n\nclass Sender: ...\n",
    }
    was = layers(before)
    assert {was[node] for node in was if node != "other.php"} == {"infra"}
    old = build_graph(facts_of((each, content.encode()) for each, content in before.items()), load_settings())
    files = facts_of((each, content.encode()) for each, content in {**before, path: text}.items())
    number = sorted(before).index(path)
    again = relink(without_bodies(files, [number]), load_settings(), old.graph, {number}).linked.graph
    assert differences(again, build_graph(files, load_settings()).graph) == []
    now = {node: again.layer(i) for i, node in enumerate(again.nodes.ids)}
    assert {node: layer for node, layer in now.items() if layer and was.get(node, "logic") != layer} == changed


def test_the_tables_name_languages_and_every_word_once() -> None:
    families = {settings.family for settings in load_settings().values()} | {""}
    for tables in (WORDS, WEAK_WORDS, PACKAGES, FUNCTIONS, BASE_WORDS):
        assert set(tables) <= families
        for table in tables.values():
            words = [word for layer in table for word in table[layer]]
            assert len(words) == len(set(words))
            assert not set(table) & {Layer.TEST, Layer.DOCS}


def labels(kinds: list[NodeKind], fan_ins: list[int]) -> list[str]:
    found = rank_tiers(np.array(kinds, dtype=np.uint8), np.array(fan_ins, dtype=np.int64))
    assert found.dtype == np.uint8
    return [Tier(tier).label for tier in found.tolist()]


def test_fan_in_counts_other_nodes_once_and_certain_uses_alone() -> None:
    ids = ["a.py", "a.py::f", "a.py::g", "a.py::h"]
    graph = make_graph(
        ids,
        [
            ("a.py", "a.py::f", EdgeKind.CONTAINS),
            ("a.py", "a.py::g", EdgeKind.CONTAINS),
            ("a.py", "a.py::h", EdgeKind.CONTAINS),
            ("a.py::g", "a.py::f", EdgeKind.CALLS),
            ("a.py::g", "a.py::f", EdgeKind.REFERENCES),  # the same node once more
            ("a.py::h", "a.py::f", EdgeKind.CALLS, 0.5),
            ("a.py::h", "a.py::g", EdgeKind.CALLS, 0.49),
            ("a.py::h", "a.py::h", EdgeKind.CALLS),
            ("a.py", "a.py::h", EdgeKind.MENTIONS),
            ("a.py", "a.py::g", EdgeKind.TESTS),
        ],
    )
    assert fan_in(graph.edges, 4).tolist() == [0, 2, 1, 0]


def test_ten_and_fifteen_per_cent_rounded_up_ties_by_node() -> None:
    # Of 20: the first 2 hot, 5 in all not leaf.
    fan_ins = [1, 9, 1, 7, 1, 1, 1] + [0] * 13
    expected = ["core", "hot", "core", "hot", "core", "leaf", "leaf"] + ["leaf"] * 13
    assert labels([NodeKind.FUNCTION] * 20, fan_ins) == expected
    # Of 21: 2.1 and 5.25 are rounded up to 3 and 6.
    expected = ["hot", "hot", "core", "hot", "core", "core", "leaf"] + ["leaf"] * 14
    assert labels([NodeKind.FUNCTION] * 21, [*fan_ins, 0]) == expected


def test_tiny_graphs() -> None:
    assert labels([], []) == []
    assert labels([NodeKind.CLASS], [0]) == ["leaf"]
    assert labels([NodeKind.CLASS], [1]) == ["hot"]
    assert labels([NodeKind.CLASS, NodeKind.METHOD], [1, 5]) == ["leaf", "hot"]


def test_files_are_ranked_among_files_and_the_rest_is_leaf() -> None:
    kinds = [NodeKind.FILE, NodeKind.FUNCTION, NodeKind.FILE, NodeKind.PASSAGE, NodeKind.EXTERNAL]
    assert labels(kinds, [1, 5, 2, 9, 99]) == ["leaf", "hot", "hot", "leaf", "leaf"]


@given(st.lists(st.integers(0, 5), max_size=60))
def test_nothing_of_a_lower_tier_is_used_more(fan_ins: list[int]) -> None:
    found = labels([NodeKind.FUNCTION] * len(fan_ins), fan_ins)
    by_tier = {tier: [n for n, each in zip(fan_ins, found, strict=True) if each == tier] for tier in set(found)}
    assert min(by_tier.get("hot", [9])) >= max(by_tier.get("core", [0]))
    assert min(by_tier.get("core", [9])) >= max(by_tier.get("leaf", [0])) or "core" not in by_tier
    assert len(by_tier.get("hot", [])) <= -(-len(fan_ins) // 10)
    assert len(by_tier.get("hot", [])) + len(by_tier.get("core", [])) <= -(-len(fan_ins) // 4)
