"""The quick look at how a name begins and ends lets nothing by that a pattern matches."""

from fnmatch import fnmatchcase

from causalist.source.exclusion import NAME_RULES, skip_reason_by_name

_GLOBS = [glob for _, globs in NAME_RULES for glob in globs.split()]


def test_what_a_glob_matches_stays_out() -> None:
    for glob in _GLOBS:
        for filling in ("", "a", "a.b", "-x", "1"):
            name = glob.replace("*", filling)
            assert fnmatchcase(name, glob)
            assert skip_reason_by_name(f"folder/{name}") is not None, name
            assert skip_reason_by_name(name.upper()) is not None, name


def test_what_no_glob_matches_is_taken() -> None:
    for glob in _GLOBS:
        for name in (f"x{glob.replace('*', 'a')}", f"{glob.replace('*', 'a')}x"):
            if not any(fnmatchcase(name, each) for each in _GLOBS):
                assert skip_reason_by_name(name) is None, name
