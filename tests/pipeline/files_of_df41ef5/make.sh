#!/bin/sh
# Make the files of this folder with commit df41ef5 of Causalist, the version before the packages were laid out anew:
#
#   git worktree add OLD df41ef5
#   sh tests/pipeline/files_of_df41ef5/make.sh OLD tests/pipeline/files_of_df41ef5
#
# The repository is written below. Every file of its folder `.causalist`, here named `kept`, comes from the old code.
set -eu
old=$(cd "$1" && pwd)
target=$(cd "$2" && pwd)/shop
work=$(mktemp -d)
mkdir "$work/shop"
cd "$work"
export PYTHONPATH="$old" PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME="$(mktemp -d)"

cat > shop/prices.py <<'END'
"""Prices of a shop."""


def discount(price: int, percent: int) -> int:
    """Return the price after a discount."""
    return price * (100 - percent) // 100
END
cat > shop/orders.py <<'END'
"""Orders of a shop."""

from shop.prices import discount


def total(prices: list[int], percent: int) -> int:
    """Return what an order costs after the discount."""
    return sum(discount(each, percent) for each in prices)
END
cat > causalist.toml <<'END'
# Short answers, please.
[ask]
max-tokens = 900   # a page
top-k = 7

[index]
deny = ["attic/*"]
END
touch -d 2025-01-01T00:00:00Z shop/prices.py shop/orders.py causalist.toml

causalist() { python -P -m causalist "$@"; }
causalist index
id=$(causalist ask "what does an order cost after the discount" --json | python -c 'import json, sys; print(json.load(sys.stdin)["answer_id"])')
causalist feedback "$id" --used shop/orders.py --not-used shop/prices.py
python -P - <<'END'
from dataclasses import replace
from pathlib import Path

from causalist.beside import Beside, weights_document
from causalist.rank import default_weights
from causalist.versions import index_version

shipped = default_weights()
weights = replace(shipped, file=replace(shipped.file, signals={**shipped.file.signals, "text": 1.5}))
Beside((Path(".causalist"),)).keep_weights(weights_document(weights, index_version(), "by hand", {}))
END
rm -f .causalist/lock .causalist/*.lock .causalist/.gitignore
rm -rf "$target"
cp -Rp "$work" "$target"
mv "$target/.causalist" "$target/kept"
