"""Two clones in the two layouts; no user settings of git take part."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.evaluate.clone_builders import git, make_history
from tests.users import no_user_settings as no_user_settings

CHECKING = "def validate(token):\n    '''Whether a token is valid.'''\n    return token in ISSUED\n"
CART = "def add_item(cart, item):\n    cart.append(item)\n    return total_price(cart)\n"
PRICES = "def total_price(cart):\n    return sum(item.price for item in cart)\n"
TESTS = "from auth import validate\n\n\ndef test_validate_token():\n    assert validate('token token token')\n"
DOCS = "# Tokens\n\nHow we validate a token: a token is valid when the token was issued. Validate each token.\n"


@dataclass(frozen=True, slots=True)
class Clones:
    """`shop` and `site` are the commits of acme/shop (bare, OWNER+NAME/repo) and acme/site (work tree, OWNER/NAME)."""

    folder: Path
    shop: list[str]
    site: list[str]


@pytest.fixture(scope="session")
def clones(tmp_path_factory: pytest.TempPathFactory) -> Clones:
    """In acme/shop the check of tokens moves from auth.py to tokens.py between the two commits.

    The second commit claims to be the older one, so that it is visited first and could leak through the cache.
    """
    made = tmp_path_factory.mktemp("made")
    around = {"cart.py": CART, "prices.py": PRICES, "docs/tokens.md": DOCS, "tests/test_auth.py": TESTS}
    shop = make_history(
        made / "shop",
        (9, around | {"auth.py": "ISSUED = set()\n\n\n" + CHECKING}),
        (2, around | {"auth.py": "from tokens import ISSUED\n", "tokens.py": "ISSUED = set()\n\n\n" + CHECKING}),
    )
    folder = tmp_path_factory.mktemp("clones")
    (folder / "acme+shop").mkdir()
    git(made, "clone", "-q", "--bare", "shop", str(folder / "acme+shop" / "repo"))
    page = "export function renderPage(title) {\n  return layout(title)\n}\n"
    site = make_history(
        folder / "acme" / "site",
        (1, {"src/page.js": page, "src/layout.js": "export function layout(title) {\n  return title\n}\n"}),
    )
    return Clones(folder, shop, site)
