"""What a path tells of a file."""

import pytest

from causalist.graph.roles import role_of


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("src/app.py", "code"),
        ("lib/testing_tools.py", "code"),
        ("src/contest.py", "code"),
        ("src/index.ts", "code"),
        ("tests/app.py", "test"),
        ("src/__tests__/a.ts", "test"),
        ("src/test_app.py", "test"),
        ("src/app_test.py", "test"),
        ("conftest.py", "test"),
        ("src/a.spec.ts", "test"),
        ("src/a.test.tsx", "test"),
        ("store/store_test.go", "test"),
        ("store/testing.go", "test"),
        ("store/testdata/a.go", "test"),
        ("src/testing.py", "code"),
        ("vendor/ex.org/a/a.go", "vendored"),
        ("vendor/lib.py", "vendored"),
        ("tests/vendor/lib.py", "vendored"),
        ("docs/conf.py", "docs"),
        ("README.md", "docs"),
        ("a/CHANGES.rst", "docs"),
        ("examples/app.py", "example"),
        ("benchmarks/run.py", "example"),
        ("db/migrations/0001_init.py", "migration"),
        ("setup.py", "config"),
        ("a/package.json", "config"),
        (".github/x.py", "config"),
        ("vite.config.ts", "config"),
        ("Dockerfile", "config"),
        ("dist/a.js", "generated"),
        ("SRC/Test_App.PY", "test"),
    ],
)
def test_role_of(path: str, role: str) -> None:
    assert role_of(path).label == role
