"""Secrets are found whatever stands around them, and what only looks like one stays.

The values are made at run time (tests/planted.py); what must stay is written out."""

import random
import re
import time
from importlib import import_module
from itertools import pairwise
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.parse import MASK, load_grammar, mask_range, parse_source, parse_text
from causalist.parse import secret_scan as module
from causalist.parse.cleaned_text import mask_secrets
from causalist.parse.secret_scan import OWN_TOKENS, PLUGINS, find_candidate_texts, find_secrets, is_strong
from tests.planted import CARRIERS, KINDS, NAMES, parts_of, planted
from tests.trials import count_of


def mask(text: str) -> str:
    data = text.encode()
    return mask_secrets(data, find_secrets(data)).decode()


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_every_kind_is_found_in_every_carrier(number: int) -> None:
    for seed in range(3):
        secret = KINDS[number](random.Random(seed))
        for n, (_, template) in enumerate(CARRIERS):
            name = "DB_PASSWORD" if "password" in secret.kind else NAMES[n % len(NAMES)]
            text = secret.text.replace("\n", "\\n") if n % 2 else secret.text
            carrier = template.format(text, n=n, name=name)
            assert any(part in carrier for part in secret.secrets), "the template does not hold the secret"
            result = mask(carrier)
            for part in parts_of(" ".join(secret.secrets)):
                assert part not in result and part not in result.lower(), (secret.kind, template, result)


def test_of_many_texts_those_with_secrets_are_looked_at() -> None:
    """Every kind in every carrier, each text beside others; and few of those without a secret."""
    texts = [f"Fix the cache of part {i}, see #{i}\n\nIt was (nearly) full." for i in range(200)]
    for number, kind in enumerate(KINDS):
        secret = kind(random.Random(number))
        for n, (_, template) in enumerate(CARRIERS):
            texts.append(template.format(secret.text, n=n, name=NAMES[n % len(NAMES)]))
    random.Random(1).shuffle(texts)
    encoded = [text.encode() for text in texts]
    looked_at = list(find_candidate_texts(encoded))
    with_secrets = {i for i, text in enumerate(encoded) if find_secrets(text)}
    assert len(with_secrets) > len(KINDS) * len(CARRIERS) / 2
    assert with_secrets <= set(looked_at) and looked_at == sorted(set(looked_at))
    assert not [texts[i] for i in looked_at if texts[i].startswith("Fix the cache")]


@settings(max_examples=count_of(60, 200), deadline=None)
@given(
    st.lists(
        st.lists(
            st.sampled_from(
                [
                    *(p.text for p in planted(23)),
                    "password",
                    "_auth",
                    "=",
                    ":",
                    '"',
                    "'",
                    "\n",
                    " ",
                    "1:",
                    "token",
                    "://",
                    "@",
                    "x",
                ]
            ),
            max_size=8,
        ).map("".join),
        max_size=6,
    )
)
def test_no_text_hides_the_secret_of_another(texts: list[str]) -> None:
    encoded = [text.encode() for text in texts]
    assert {i for i, text in enumerate(encoded) if find_secrets(text)} <= set(find_candidate_texts(encoded))


def test_a_private_key_goes_line_by_line_and_its_frame_stays() -> None:
    key = next(p for p in planted(40) if p.kind == "private key")
    first, *_, last = key.text.split("\n")
    for before, after in (("", ""), ("# ", ""), ('    "', '\\n"'), ("+", "")):
        text = "\n".join(f"{before}{line}{after}" for line in key.text.split("\n"))
        result = mask(f"start\n{text}\nafter_the_key_is_closed = 1\n")
        assert result.split("\n")[1] == f"{before}{first}{after}"
        assert last in result and "after_the_key_is_closed" in result
        assert not any(line in result for line in key.secrets)
        assert result.count("\n") == text.count("\n") + 3


def test_a_key_that_is_cut_off_is_masked_and_what_follows_is_not() -> None:
    key = next(p for p in planted(40) if p.kind == "private key")
    text = "\n".join(key.text.split("\n")[:-1]) + "\n\ndef authenticateEverybody(): pass\n"
    result = mask(text)
    assert "authenticateEverybody" in result and key.secrets[0] not in result and key.secrets[-1] not in result


# What must not be touched, by what it could be taken for.
STAYS = [
    "password = get_password()",
    "password: str",
    "def login(user: str, password: str = None, token: str | None = None) -> Session:",
    'password = "changeme"',
    'password = "<your password>"',
    'api_key = "your-api-key-here-1234"',
    'API_KEY = "${API_KEY_2}"',
    'token = "{{ secrets.TOKEN_1 }}"',
    "const secret = process.env.CLIENT_SECRET_V2;",
    'password = os.environ["DB_PASSWORD_2"]',
    'password_field = "password_confirmation"',
    'token_type = "access_token_v2"',
    '"secretName": "my-app-secret-1"',
    'form.password.label = "Enter your password!"',
    'PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]',
    'secret_key_file = "/run/secrets/db_password_1"',
    'tokenUrl: "https://auth.example.org/oauth2/token"',
    "the token 2023-11-04 was replaced by a key",
    "postgres://user:password@localhost/db",
    "http://user:pass@example.org/",
    "https://example.org/path:80/@scope/package",
    "git@github.com:owner/name.git",
    '"integrity": "sha512-Gd2UZBJDkXlY7GbJxfsE8/nvKkUEU1G38c1siN6QP6a9PT9MmHB8GnpscSmMJSoF8LOIrt8ud/wPtojys4G6+g=="',
    '"/build/app.js": "sha384-JC3qPmAlutY62/mgdTA84qxUh1v0kUbWGxCQ6ZuD4LwsoJtPWSWHn0BX30kqM7n/"',
    'commit = "9fceb02d0ae598e95dc970b74767f19372d61af8"',
    '"9fceb02d0ae598e95dc970b74767f19372d61af8"',
    'name = "d41d8cd98f00b204e9800998ecf8427e"',
    "github.com/stretchr/testify v1.9.0 h1:HtqpIVDClZ4nwg75+f6Lvsy/wHu+3BoSGCbBAcpTsTg=",
    'id = "550e8400-e29b-41d4-a716-446655440000"',
    'ETag: W/"3e7-qPnkJ3CVdVhFJQvUBfF10TmVA7g"',
    '"packages/core/src/Auth2/sessionStore.test.ts"',
    'import { authenticateUserWithOAuth2Token } from "./authenticateUserWithOAuth2Token"',
    '"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"',
    '"post_userId_idx_a489d58a"',
    '"VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZy4="',  # base64 of a sentence
    'auth = "Basic|Digest|NTLM|Any"',
    'TOKEN = "[A-Za-z0-9._~+/-]+=*"',
    'if "-----BEGIN RSA PRIVATE KEY-----" in text:\n    return authenticateWithPrivateKey(text)',
    'BEGIN = "-----BEGIN PRIVATE KEY-----"\nEND = "-----END PRIVATE KEY-----"\nlongIdentifierAfterIt()',
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AKIAXXXXXXXXXXXXXXXX",
    "disk-usage sk-learn risk-assessment-of-everything-that-runs",
    "bearer authentication requires internationalization of tokens",
    "*" * 40,
]


@pytest.mark.parametrize("text", STAYS)
def test_what_merely_looks_like_a_secret_stays(text: str) -> None:
    assert mask(text) == text
    assert mask(f"x\n    {text}\ny\n") == f"x\n    {text}\ny\n"


def test_the_same_value_without_its_name_is_masked_in_the_rest_of_the_file() -> None:
    value = next(p for p in planted(40) if p.kind == "API key").text
    assert value not in mask(f'api_key = "{value}"\n\n\ndef test():\n    assert call() == {value!r}\n')


@settings(max_examples=count_of(100, 300), deadline=None)
@given(st.binary(max_size=300), st.sampled_from([p.text for p in planted(23)]), st.binary(max_size=300))
def test_masking_keeps_every_position(before: bytes, secret: str, after: bytes) -> None:
    data = before + b'\npassword = "' + secret.encode() + b'"\n' + after
    spans = find_secrets(data)
    result = mask_secrets(data, spans)
    assert len(result) == len(data)
    assert [i for i, b in enumerate(data) if b == 10] == [i for i, b in enumerate(result) if b == 10]
    assert all(0 <= start < end <= len(data) for start, end in spans)
    assert all(a[1] < b[0] for a, b in pairwise(spans))
    try:
        data.decode()
    except UnicodeDecodeError:
        return
    result.decode()


def expressions() -> list[tuple[str, re.Pattern[str], int]]:
    found = []
    for plugin, name, groups, _ in PLUGINS:
        denylist = getattr(import_module(f"detect_secrets.plugins.{plugin}"), name).denylist
        found += [(name, e, groups[min(i, len(groups) - 1)]) for i, e in enumerate(denylist)]
    return found + [(pattern, own := re.compile(pattern, re.ASCII), min(1, own.groups)) for pattern, _ in OWN_TOKENS]


def sample(tree: Any, chance: random.Random) -> str:
    """A text that a parsed expression matches, as its constructs say; look-arounds are left to luck."""
    parts = []
    for kind, value in tree:
        match str(kind):
            case "LITERAL":
                parts.append(chr(value))
            case "IN":
                parts.append(chance.choice([c for c in PRINTABLE if is_in(value, c)]))
            case "ANY":
                parts.append(chance.choice(PRINTABLE))
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                low, high, inner = value
                parts += [sample(inner, chance) for _ in range(chance.randint(low, min(int(high), low + 24)))]
            case "SUBPATTERN":
                parts.append(sample(value[3], chance))
            case "BRANCH":
                parts.append(sample(chance.choice(value[1]), chance))
            case "ASSERT" | "ASSERT_NOT" | "AT":
                pass
            case _:
                raise AssertionError(kind)
    return "".join(parts)


PRINTABLE = [chr(code) for code in range(32, 127)]
CATEGORIES = {"CATEGORY_DIGIT": r"\d", "CATEGORY_WORD": r"\w", "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S"}


def is_in(items: Any, character: str) -> bool:
    found = negated = False
    for kind, value in items:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL":
                found |= ord(character) == value
            case "RANGE":
                found |= value[0] <= ord(character) <= value[1]
            case "CATEGORY":
                found |= bool(re.match(CATEGORIES[str(value)], character))
    return found != negated


@pytest.mark.parametrize(("name", "expression", "group"), expressions())
def test_candidates_hold_everything_that_the_close_reading_would_find(
    name: str, expression: re.Pattern[str], group: int
) -> None:
    """Whatever an expression matches in a line of its own is masked in a file, unless it is no secret by its value:
    so no expression waits behind a filter that it does not pass. Ten secrets are enough; `--full-trials` goes on."""
    rule = next(rule for e, _, rule in module._token_expressions() if e.pattern == expression.pattern)
    tree, chance, n_secret = parser.parse(expression.pattern, expression.flags), random.Random(5), 0
    for _ in range(60):
        if n_secret == count_of(10, 60):
            break
        text = sample(tree, chance)
        match = expression.search(text)
        if match is None or not module._RULES[rule](match[group]):
            continue
        n_secret += 1
        start, end = match.span(group)
        for before in ("", "x = 1\ny = f("):
            spans = find_secrets(f"{before}{text}\nz = 2\n".encode())
            covered = {i for a, b in spans for i in range(a, b)}
            # Another expression may see more or less of the frame of a token; what is random has to be gone.
            assert len(covered & set(range(start + len(before), end + len(before)))) >= 0.8 * (end - start), text
    assert n_secret >= 10, "no sample is a secret, so that nothing was checked"


_PIECES = st.sampled_from(
    (
        "PassWord", "pwd", "api_key", "SECRET", "aws_secret", "token", "hmac", "compass", "\xc3\xb1",
        "Contrase\xc3\xb1a", "_", "-", '"', "'", "`", " = ", "=", " == ", ": ", ":", "(", ");", " => ", " != ", "[0]",
        ",", " ", "\n", "new Foo(", "uY3nq8ZkP0vT6sRw", "9f86d081", "plain words", "A-b.C+d/E=f!G?h:", "changeme",
        "x\xb2\xb3yzabcd",
    )
)  # fmt: skip
_LINES = st.lists(_PIECES, max_size=14).map("".join)


@settings(max_examples=count_of(200, 600), deadline=None)
@given(_LINES)
def test_assignments_are_those_of_the_expression(text: str) -> None:
    expected = [match.span() for match in module._ASSIGNMENTS[0].finditer(text)]
    assert [match.span() for match in module._find_assignments(text)] == expected


@settings(max_examples=count_of(200, 600), deadline=None)
@given(_LINES)
def test_no_strong_value_of_the_plugin_is_passed_over(text: str) -> None:
    if any(value and is_strong(value) for value in module._keyword().analyze_string(text)):
        assert module._may_be_quoted(text)


def test_samples_hold_assignments_and_strong_values() -> None:
    """What the two tests above are about is there."""
    text = 'API_KEY: str = "uY3nq8ZkP0vT6sRw"; PassWord = "9f86d081"'
    assert len(list(module._find_assignments(text))) == 2
    assert list(module._keyword().analyze_string(text)) and module._may_be_quoted(text)
    assert not module._may_be_quoted('password = "change the password", 12345678')


def test_shown_hides_how_long_a_secret_is() -> None:
    data = b"a = 'secret-1'\nb = 'longer-secret-2'\nc = 3\n"
    spans = [(5, 13), (20, 35)]
    assert mask_range(data, 0, len(data), spans).decode() == f"a = '{MASK}'\nb = '{MASK}'\nc = 3\n"
    assert mask_range(data, 15, 36, spans).decode() == f"b = '{MASK}'"
    assert mask_range(data, 8, 22, spans).decode() == f"{MASK}'\nb = '{MASK}"
    assert mask_range(data, 37, 42, spans) == b"c = 3"
    assert mask_range(b"x\nkey1\nkey2\ny", 0, 13, [(2, 11)]).decode() == f"x\n{MASK}\n{MASK}\ny"


def test_facts_hold_no_secret_and_their_spans_are_those_of_the_file() -> None:
    secret = next(p for p in planted(40) if p.kind == "random string").text
    source = f'def connect(url, password="{secret}"):\n    """Uses {secret} by default."""\n    return open_it(url)\n'
    facts = parse_source(source.encode(), load_grammar("python"))
    assert [source.encode()[a:b].decode() for a, b in facts.secrets] == [secret, secret]
    assert secret not in repr(facts) and secret.lower() not in repr(facts)
    (definition,) = facts.definitions
    assert definition.signature == f'def connect(url, password="{MASK}")'
    assert definition.end_byte == len(source.encode()) - 1
    text = parse_text("notes.md", f"# Use {secret}\n\ntoken = '{secret}'\n".encode())
    assert secret not in repr(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "password=", 'secret("', "token: ", "\"'`", "://a:", "://a:bcdef1@", "eyJaaaaaaaa.", "sk-", "api_key=abc1",
        '"==key', "a-key-", "secret='abc", "?sig=", "bearer ", "token abcdefgh1 ", "_auth=", "password: str ",
        'password\\"=\\"', "-----BEGIN RSA PRIVATE KEY-----", "SG.aaaaaaaaaaaaaaaaaaaaaa", "ghp_" + "a1" * 18 + " ",
        "Maaaaaaaaaaaaaaaaaaaaaaa.", "AKIA", "-", "\\", "a",
    ],
)  # fmt: skip
def test_hostile_files_take_linear_time(unit: str) -> None:
    data = (unit * (200_000 // len(unit))).encode()
    start = time.process_time()
    find_secrets(data)
    # Measured: at most 1.6 s; a quadratic reading takes minutes.
    assert time.process_time() - start < 15
