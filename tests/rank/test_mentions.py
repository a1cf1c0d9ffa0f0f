"""What a question names outright, in repositories where it is clear, doubtful, or told by many."""

from collections.abc import Iterable, Mapping
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.model.graph import EdgeKind
from causalist.model.node_ids import NodeKind
from causalist.rank.query.query import parse_query
from causalist.rank.scoring.mentions import find_given_names, find_nodes_by_name, mention_scores
from tests.model.corpus import NAMES, PATHS, Corpus, Def, corpora, corpus

AUTH = {
    "src/web/auth.py": [Def("Session", "", NodeKind.CLASS), Def("Session.verify"), Def("verify")],
    "src/cli/auth.py": [Def("Login", "", NodeKind.CLASS), Def("Login.verify")],
    "lib/mail.py": [Def("send")],
    "lib/pkg/__init__.py": "",
}


def check(files: Mapping[str, Iterable[Def] | str] | Corpus, question: str, expected: dict[str, float]) -> None:
    c = files if isinstance(files, Corpus) else corpus(files)
    found = c.of(mention_scores(parse_query(question), c.graph, c.lexical))
    assert found == pytest.approx(expected, rel=1e-12)


# -- symbols


def test_a_name_without_namesakes_counts_in_full() -> None:
    check(AUTH, "what calls `send`", {"lib/mail.py::send": 1.0})
    check(AUTH, "what calls `SEND`", {"lib/mail.py::send": 1.0})


def test_bodies_name_with_less_weight() -> None:
    check(AUTH, "mail\nlooks like send()", {"lib/mail.py::send": 0.6})


def test_namesakes_share_by_the_square_root_of_their_number() -> None:
    three = ["src/web/auth.py::Session.verify", "src/web/auth.py::verify", "src/cli/auth.py::Login.verify"]
    check(AUTH, "what calls `verify`", dict.fromkeys(three, 1 / sqrt(3)))


def test_a_file_bears_its_name_and_its_stem() -> None:
    check(AUTH, "what is `mail`", {"lib/mail.py": 1.0})
    check(AUTH, "what is `auth`", dict.fromkeys(["src/web/auth.py", "src/cli/auth.py"], 1 / sqrt(2)))


def test_fields_are_found_by_name() -> None:
    files = {"pool.py": [Def("Pool", "", NodeKind.CLASS), Def("Pool.max_size", "", NodeKind.FIELD)]}
    check(files, "who sets max_size of it", {"pool.py::Pool.max_size": 1.0})


@pytest.mark.parametrize(("n", "value"), [(49, 1 / 7), (50, 1 / sqrt(50)), (51, None)])
def test_names_that_too_many_bear_are_ignored(n: int, value: float | None) -> None:
    c = corpus({f"f{i:02}.py": [Def("save_all")] for i in range(n)})
    check(c, "what calls save_all", {f"f{i:02}.py::save_all": value for i in range(n)} if value else {})


def test_the_clearest_of_several_mentions_counts() -> None:
    """verify: 1 / sqrt 3 each. Session.verify: 1 for the only one."""
    expected = dict.fromkeys(["src/web/auth.py::verify", "src/cli/auth.py::Login.verify"], 1 / sqrt(3))
    expected["src/web/auth.py::Session.verify"] = 1.0
    check(AUTH, "is `verify` the same as Session.verify or not", expected)
    check(AUTH, "is Session.verify the same as `verify` or not", expected)


# -- paths


def test_a_path_means_the_files_that_share_its_longest_tail() -> None:
    check(AUTH, "see src/web/auth.py", {"src/web/auth.py": 1.0})
    check(AUTH, "see app/src/WEB/auth.py", {"src/web/auth.py": 1.0})
    check(AUTH, "see cli/auth.py", {"src/cli/auth.py": 1.0})
    check(AUTH, "see other/auth.py", dict.fromkeys(["src/web/auth.py", "src/cli/auth.py"], 1 / sqrt(2)))


def test_the_tail_is_compared_from_the_end_without_gaps() -> None:
    """x/b/auth.py shares auth.py and b; a/x/auth.py only auth.py, although a stands at the same place again."""
    files = {"x/b/auth.py": "", "a/x/auth.py": ""}
    check(files, "see a/b/auth.py", {"x/b/auth.py": 1.0})


def test_a_path_without_its_extension_means_the_same_file() -> None:
    check(AUTH, "import of ../web/auth", {"src/web/auth.py": 1.0})
    check(AUTH, "import of cli/auth", {"src/cli/auth.py": 1.0})


def test_only_files_are_meant_by_paths() -> None:
    files = {"src/send.py": "", "lib/mail.py": [Def("send")]}
    check(files, "import of ../x/send", {"src/send.py": 1.0})


def test_unknown_paths_mean_nothing() -> None:
    check(AUTH, "see src/web/unknown.py or a/./.", {})


# -- qualified names


def test_qualified_names_need_a_part_that_agrees() -> None:
    check(AUTH, "what calls Session.verify here", {"src/web/auth.py::Session.verify": 1.0})
    check(AUTH, "what calls Login.verify here", {"src/cli/auth.py::Login.verify": 1.0})
    check(AUTH, "what calls Other.verify here", {})
    check(AUTH, "what calls MAIL.Send here", {"lib/mail.py::send": 1.0})


def test_the_part_before_the_last_may_be_a_class_a_module_or_a_folder() -> None:
    three = ["src/web/auth.py::Session.verify", "src/web/auth.py::verify", "src/cli/auth.py::Login.verify"]
    check(AUTH, "what calls auth.verify here", dict.fromkeys(three, 1 / sqrt(3)))
    check(AUTH, "what calls web.verify here", dict.fromkeys(three[:2], 1 / sqrt(2)))
    check(AUTH, "what is lib.mail in here", {"lib/mail.py": 1.0})
    check(AUTH, "what is web.auth in here", {"src/web/auth.py": 1.0})


def test_only_the_last_part_before_the_name_has_to_agree() -> None:
    check(AUTH, "what calls app.Session.verify here", {"src/web/auth.py::Session.verify": 1.0})
    check(AUTH, "what calls Session.app.verify here", {})


def test_a_module_is_meant_where_what_it_should_hold_is_not_known() -> None:
    check(AUTH, "what uses lib.mail.unknown here", {"lib/mail.py": 1.0})
    check(AUTH, "what uses mail.unknown here", {})  # two parts are as well an object and its attribute
    check(AUTH, "what uses lib.send.unknown here", {})  # not a file


def test_from_imports() -> None:
    """mail.send is named by the statement, lib.mail as a dotted name in it."""
    check(AUTH, "from lib.mail import send", {"lib/mail.py::send": 1.0, "lib/mail.py": 1.0})
    check(AUTH, "from mail import (send as deliver)", {"lib/mail.py::send": 1.0})


def test_imports_from_the_same_folder_do_not_mean_files_without_a_stem() -> None:
    files = {".eslintrc.json": "", "views.py": "", "lib/Makefile": [Def("views")]}
    two = ["views.py", "lib/Makefile::views"]
    check(files, "from . import views", dict.fromkeys(two, 1 / sqrt(2)))
    check(files, "from . import unknown", {})


# -- names in general


@pytest.mark.slow
@given(corpora())
def test_every_definition_and_file_is_found_by_its_name(c: Corpus) -> None:
    for path, facts in c.files:
        base = path.rpartition("/")[2]
        assert c.node(path) in find_nodes_by_name(base, c.lexical)
        assert c.node(path) in find_nodes_by_name(base.partition(".")[0].upper(), c.lexical)
        for d in facts.definitions:
            assert c.node(f"{path}::{d.qualname}") in find_nodes_by_name(d.name, c.lexical)


@given(corpora(), st.text(max_size=5) | st.sampled_from(NAMES))
def test_only_what_bears_a_name_is_found_by_it(c: Corpus, name: str) -> None:
    found = find_nodes_by_name(name, c.lexical)
    assert found == sorted(set(found))
    for node in found:
        node_id = c.graph.nodes.ids[node]
        last = node_id.rpartition("::")[2].rpartition(".")[2] if "::" in node_id else node_id.rpartition("/")[2]
        assert name.lower() in (last.lower(), last.lower().partition(".")[0])


told = st.lists(st.sampled_from([*NAMES, *PATHS, "Token.auth", "`auth`", "from auth import login", "\n", "x()"]))


@pytest.mark.slow
@given(corpora(linked=True), told.map(" ".join))
def test_mentions_lie_between_0_and_1_and_mean_no_externals(c: Corpus, text: str) -> None:
    scores = mention_scores(parse_query(text), c.graph, c.lexical)
    assert scores.shape == (len(c.graph.nodes),)
    assert np.isfinite(scores).all()
    assert ((scores >= 0) & (scores <= 1)).all()
    assert not scores[c.graph.nodes.kinds == NodeKind.EXTERNAL].any()


# -- names that a caller gives


def given_names(*names: str, files: Mapping[str, Iterable[Def] | str] = AUTH) -> dict[str, float]:
    return shares_of(corpus(files), *names)


def shares_of(c: Corpus, *names: str, use_edges: bool = True) -> dict[str, float]:
    shares = find_given_names(names, c.graph, c.lexical, use_edges=use_edges)
    return {c.graph.nodes.ids[node]: share for node, share in shares.items()}


def test_given_names_share_what_they_say() -> None:
    assert given_names("send, unknown") == {"lib/mail.py::send": 1.0}
    three = ["src/web/auth.py::Session.verify", "src/web/auth.py::verify", "src/cli/auth.py::Login.verify"]
    assert given_names("verify") == pytest.approx(dict.fromkeys(three, 1 / 3))
    assert given_names("verify Login.verify")["src/cli/auth.py::Login.verify"] == 1.0


def test_given_names_mean_the_owner_before_them_and_their_own_case() -> None:
    assert given_names("Login::verify") == {"src/cli/auth.py::Login.verify": 1.0}
    assert given_names("Nobody.send()") == {"lib/mail.py::send": 1.0}
    assert given_names("Send", "()") == {}  # another name, no name


def test_a_given_name_may_be_that_of_a_value_or_of_the_class_of_a_constructor() -> None:
    """A class stands for its constructor, which has half of its share; a function goes before a field of its name."""
    queue = [
        Def("Queue", "", NodeKind.CLASS),
        Def("Queue.__init__"),
        Def("Queue.wait", "", NodeKind.FIELD),
        Def("LIMIT", "", NodeKind.CONSTANT),
        Def("size"),
        Def("Queue.size", "", NodeKind.FIELD),
    ]
    assert given_names("Queue, LIMIT wait size", files={"app/queue.py": queue}) == {
        "app/queue.py::Queue.__init__": 0.5,
        "app/queue.py::LIMIT": 1.0,
        "app/queue.py::Queue.wait": 1.0,
        "app/queue.py::size": 1.0,
    }


@pytest.mark.parametrize(("n_functions", "n_lines", "found"), [(4, 15, 4), (5, 2, 1), (4, 16, 1)])
def test_a_class_of_few_short_functions_stands_for_all_of_them(n_functions: int, n_lines: int, found: int) -> None:
    """Up to four functions of 60 lines together; else its constructor alone has the half of the share."""
    names = ["Mail.__init__", *(f"Mail.send_{i}" for i in range(1, n_functions))]
    c = corpus({"mail.py": [Def("Mail", "", NodeKind.CLASS), *map(Def, names)]})
    c.graph.nodes.end_rows[:] = c.graph.nodes.start_rows + n_lines - 1
    assert shares_of(c, "Mail") == {f"mail.py::{name}": 0.5 / found for name in names[:found]}


def test_a_given_name_means_the_method_with_a_body() -> None:
    files = {
        "port.py": [Def("Mailer", "", NodeKind.CLASS), Def("Mailer.send")],
        "smtp.py": [Def("Smtp", "", NodeKind.CLASS), Def("Smtp.send")],
    }
    overrides = [("smtp.py::Smtp.send", "port.py::Mailer.send", EdgeKind.OVERRIDES)]
    assert shares_of(corpus(files, overrides), "send") == {"smtp.py::Smtp.send": 1.0}
    assert shares_of(corpus(files, overrides), "Mailer.send") == {"port.py::Mailer.send": 1.0}


def test_a_given_name_of_many_says_nothing() -> None:
    files = {f"m{i}.py": [Def("run")] for i in range(5)}
    assert given_names("run", files=files) == {}
    assert len(given_names("run", files=dict(list(files.items())[:4]))) == 4
    setting = {"settings.py": [Def("run", "", NodeKind.CONSTANT)]}
    assert given_names("run", files=files | setting) == {"settings.py::run": 1.0}


def test_of_a_name_the_definition_near_the_other_names_is_meant() -> None:
    """`save` of the store is called by what `refresh` calls; `save` of the client shares nothing with `refresh`."""
    files = {
        "feed.py": [Def("refresh")],
        "merge.py": [Def("merge")],
        "store.py": [Def("save")],
        "client.py": [Def("save")],
    }
    edges = [("feed.py::refresh", "merge.py::merge"), ("merge.py::merge", "store.py::save")]
    c = corpus(files, edges)
    assert shares_of(c, "save refresh") == {
        "store.py::save": 1.0,
        "client.py::save": 0.25,  # half of what it had without another
        "feed.py::refresh": 1.0,
    }
    assert shares_of(c, "save refresh", use_edges=False) == {
        "store.py::save": 0.5,
        "client.py::save": 0.5,
        "feed.py::refresh": 1.0,
    }


def test_what_both_use_from_outside_brings_no_definition_near() -> None:
    files = {"a.py": [Def("refresh")], "b.py": [Def("save")], "c.py": [Def("save")]}
    c = corpus(files, [("a.py::refresh", "external:json"), ("b.py::save", "external:json")])
    assert shares_of(c, "save", "refresh") == {
        "a.py::refresh": 1.0,
        "b.py::save": 0.5,
        "c.py::save": 0.5,
    }


def test_of_a_name_of_many_the_one_in_the_same_file_is_meant() -> None:
    files = {f"m{i}.py": [Def("run")] for i in range(5)} | {"m5.py": [Def("run"), Def("parse_rules")]}
    assert given_names("run parse_rules", files=files) == {"m5.py::run": 1.0, "m5.py::parse_rules": 1.0}
