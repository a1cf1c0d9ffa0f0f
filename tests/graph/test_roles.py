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
        ("src/main/java/a/Shop.java", "code"),
        ("src/main/java/com/example/test/build/Shop.java", "code"),
        ("src/test/java/a/Helper.java", "test"),
        ("examples/src/main/java/a/Shop.java", "example"),
        ("a/ShopTest.java", "test"),
        ("a/ShopTests.java", "test"),
        ("a/ShopIT.java", "test"),
        ("a/TestShop.java", "test"),
        ("a/Latest.java", "code"),
        ("a/TypeSpec.java", "code"),
        ("a/Testimony.java", "code"),
        ("a/Contest.java", "code"),
        ("a/AUDIT.java", "code"),
        ("src/Shop/DoorTest.php", "test"),
        ("src/Shop/DoorTestCase.php", "test"),
        ("src/Shop/Latest.php", "code"),
        ("target/generated-sources/a/Shop.java", "generated"),
        ("build/generated/a/Shop.java", "generated"),
    ],
)
def test_role_of(path: str, role: str) -> None:
    assert role_of(path).label == role
