"""Whether the packages of an optional extra are there."""

from causalist.errors import ExtraMissing


def need_extra(extra: str, package: str, least_major: int) -> None:
    """Raises ExtraMissing unless `package` is installed in major version `least_major` or later."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version(package)
    except PackageNotFoundError:
        what = f"{package}, which is not installed"
    else:
        major = found.partition(".")[0]
        if major.isdecimal() and int(major) >= least_major:
            return
        what = f"{package} {least_major}, and {found} is installed"
    raise ExtraMissing(f'this needs {what}; run: pip install "causalist[{extra}]"')
