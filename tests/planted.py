"""Secrets that are made up at run time, and a repository to hide them in.

No secret stands here as a literal: each is put together from pieces and a fixed seed, so that no scanner takes this
project for one that leaks. The values are random and open nothing.
"""

import base64
import json
import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"


class Planted(NamedTuple):
    """`text` is what a file holds, `secrets` the parts of it that must not be seen anywhere. `named` says that only
    the name before it gives it away."""

    kind: str
    text: str
    secrets: tuple[str, ...]
    named: bool = False


def _random(chance: random.Random, alphabet: str, n: int) -> str:
    return "".join(chance.choice(alphabet) for _ in range(n))


def _varied(chance: random.Random, n: int, alphabet: str = ALNUM) -> str:
    """Random, with upper and lower case and digits in it, as such strings have."""
    while True:
        text = _random(chance, alphabet, n)
        if sum(c.isdigit() for c in text) >= 3 and any(c.isupper() for c in text) and any(c.islower() for c in text):
            return text


def _pem(chance: random.Random, label: str) -> Planted:
    lines = [_random(chance, ALNUM + "+/", 64) for _ in range(6)] + [_random(chance, ALNUM, 38) + "=="]
    dashes = "-" * 5
    text = "\n".join([f"{dashes}BEGIN {label}{dashes}", *lines, f"{dashes}END {label}{dashes}"])
    return Planted("private key", text, tuple(lines))


def _jwt(chance: random.Random) -> Planted:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    claims = part({"sub": _random(chance, LOWER, 12), "iat": chance.randrange(10**9)})
    token = f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{claims}.{_random(chance, ALNUM, 43)}"
    return Planted("JWT", token, (token, claims, token.rpartition(".")[2]))


def _whole(kind: str, make: Callable[[random.Random], str]) -> Callable[[random.Random], Planted]:
    def planted(chance: random.Random) -> Planted:
        text = make(chance)
        return Planted(kind, text, (text,))

    return planted


def _webhook(chance: random.Random) -> Planted:
    path = f"T{_random(chance, ALNUM, 10)}/B{_random(chance, ALNUM, 10)}/{_varied(chance, 24)}"
    return Planted("Slack webhook", f"https://hooks.slack.{'com'}/services/{path}", (path, path.rpartition("/")[2]))


def _basic(chance: random.Random) -> Planted:
    password = _varied(chance, 14)
    return Planted("basic auth", f"postgres://app:{password}@db.internal:5432/main", (password,))


def _azure(chance: random.Random) -> Planted:
    key = _random(chance, ALNUM + "+/", 86) + "=="
    return Planted("Azure storage", f"DefaultEndpointsProtocol=https;AccountName=a;Account{'Key'}={key}", (key,))


def _named(kind: str, make: Callable[[random.Random], str]) -> Callable[[random.Random], Planted]:
    def planted(chance: random.Random) -> Planted:
        text = make(chance)
        return Planted(kind, text, (text,), named=True)

    return planted


KINDS: tuple[Callable[[random.Random], Planted], ...] = (
    _whole("AWS key id", lambda c: "AK" + "IA" + _random(c, string.ascii_uppercase + string.digits, 16)),
    _named("AWS secret key", lambda c: _varied(c, 40, ALNUM + "/+")),
    _whole("GitHub", lambda c: "gh" + "p_" + _varied(c, 36)),
    _whole("GitHub, fine-grained", lambda c: "github" + "_pat_" + _varied(c, 22) + "_" + _varied(c, 59)),
    _whole("GitLab", lambda c: "gl" + "pat-" + _varied(c, 20)),
    _whole(
        "Slack", lambda c: "xo" + f"xb-{_random(c, string.digits, 12)}-{_random(c, string.digits, 12)}-{_varied(c, 24)}"
    ),
    _webhook,
    _whole("Stripe", lambda c: "sk" + "_live_" + _varied(c, 24)),
    _whole("Twilio", lambda c: "S" + "K" + _random(c, HEX, 32)),
    _whole("SendGrid", lambda c: "S" + f"G.{_varied(c, 22)}.{_varied(c, 43)}"),
    _whole("npm", lambda c: "np" + "m_" + _varied(c, 36)),
    _whole("PyPI", lambda c: "py" + "pi-AgEIcHlwaS5vcmc" + _varied(c, 80)),
    _whole("OpenAI", lambda c: "s" + f"k-proj-{_varied(c, 20)}T3Blbk{'FJ'}{_varied(c, 20)}"),
    _whole("Anthropic", lambda c: "s" + f"k-ant-api03-{_varied(c, 60)}"),
    _whole("Google API", lambda c: "AI" + "za" + _varied(c, 35)),
    _azure,
    _jwt,
    lambda c: _pem(c, "RSA PRIVATE" + " KEY"),
    lambda c: _pem(c, "OPENSSH PRIVATE" + " KEY"),
    _basic,
    _named("password", lambda c: _varied(c, 12, ALNUM + "!#%&*")),
    _named("API key", lambda c: _random(c, HEX, 32)),
    _whole("random string", lambda c: _varied(c, 40)),
)


def planted(n: int, seed: int = 11) -> list[Planted]:
    """`n` secrets, the kinds one after the other."""
    chance = random.Random(seed)
    return [KINDS[i % len(KINDS)](chance) for i in range(n)]


# (path, template): {0} stands for the secret, {n} for a number. All templates suit a secret without a name or with one:
# `{name}` is a name that says so.
CARRIERS: tuple[tuple[str, str], ...] = (
    ("src/leak{n}.ts", 'export const {name} = "{0}";\n\nexport function useLeak{n}() {{ return connect({name}); }}\n'),
    ("src/leak{n}.ts", "/** Connects. {name}: '{0}' is the one for tests. */\nexport function leak{n}(): void {{}}\n"),
    ("src/leak{n}.ts", "// {name} = \"{0}\"\nexport class Leak{n} {{ private readonly {name} = `{0}`; }}\n"),
    ("src/leak{n}.ts", 'export function leak{n}({name}: string = "{0}") {{ return {name}; }}\n'),
    ("src/leak{n}.ts", 'export const leak{n} = {{ retries: 3, "{name}": "{0}", header: {{ {name}: \'{0}\' }} }};\n'),
    ("tools/leak{n}.py", 'def leak{n}(url, {name}="{0}"):\n    """Leaks {name}=\'{0}\'."""\n    return url\n'),
    ("tools/leak{n}.py", "class Leak{n}:\n    # {name}: '{0}'\n    {name}: str = '{0}'\n"),
    ("config/leak{n}.json", '{{"retries": 3, "{name}": "{0}", "list": ["{name}", "{name}=\'{0}\'"]}}\n'),
    ("config/leak{n}.yaml", 'leak{n}:\n  retries: 3\n  {name}: "{0}"\n'),
    ("config/leak{n}.ini", "[leak{n}]\n{name} = \"{0}\"\n"),
    ("docs/leak{n}.md", "# Leak {n}\n\nSet `{name}=\"{0}\"` before the start.\n\n```sh\nexport {name}='{0}'\n```\n"),
    ("docs/leak{n}.rst", "Leak {n}\n=======\n\nUse::\n\n    curl --{name}=\"{0}\" https://api.internal/leak{n}\n"),
    ("notebooks/leak{n}.ipynb",
     '{{"cells": [{{"cell_type": "code", "source": ["{name} = \\"{0}\\"\\n", "leak{n}({name})"]}}]}}\n'),
    ("config/leak{n}.yml", "leak{n}:\n  - name: {name}\n    {name}: {0}\n    other: 1\n"),
    ("config/leak{n}.properties", "leak{n}.retries=3\nleak{n}.{name}={0}\n"),
    ("scripts/leak{n}.sh", "#!/bin/sh\nexport {name}={0}\nleak{n} --{name} {0} \"$1\"\n"),
    ("config/leak{n}.toml", "[leak{n}]\n{name} = \"{0}\" # not {0}\n"),
    ("Dockerfile.leak{n}", "FROM scratch\nENV {name}=\"{0}\"\nRUN leak{n}\n"),
)  # fmt: skip
NAMES = ("apiKey", "DB_PASSWORD", "clientSecret", "access_token", "AWS_SECRET_ACCESS_KEY")


def plant(folder: Path, secrets: list[Planted]) -> None:
    """Writes one file for each secret. A key of several lines goes where strings may have lines."""
    for n, secret in enumerate(secrets):
        path, template = CARRIERS[n % len(CARRIERS)]
        name = NAMES[n % len(NAMES)]
        if "password" in secret.kind:
            name = "DB_PASSWORD"
        text = secret.text
        if "\n" in text:
            if n % 2:
                path = "src/leak{n}.ts"
                template = "export const leak{n} = `{0}`;\n\nexport function useLeak{n}() {{ return sign(leak{n}); }}\n"
            else:
                path, template = "config/leak{n}.json", '{{"leak{n}": "{0}"}}\n'
                text = text.replace("\n", "\\n")
        target = folder / path.format(n=n)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(template.format(text, n=n, name=name), encoding="utf-8")


def parts_of(secret: str) -> set[str]:
    """Everything that gives a secret away: itself and its longer words, in lower case too."""
    words = "".join(c if c.isalnum() else " " for c in secret).split()
    found = {secret, *(word for word in words if len(word) >= 10)}
    return found | {part.lower() for part in found}
