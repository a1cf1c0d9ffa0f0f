"""Rows of the tables of a shard that edges between repositories are made of, as Parquet.

`publishes` says what others can name: packages, modules and the definitions behind their names, routes, services and
so on. `uses` says what a repository names of others. Rows are sorted and unique, so that the bytes follow from the
content.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from causalist.errors import ExtraMissing

FORMAT = 1  # of the rows below; with it goes the format of records in `fleet.shards`, so that shards are made again


class Published(NamedTuple):
    """Something that others can name.

    `kind` is one of

    - package: a coordinate; `module` is its folder, `node` its manifest, `name` its version
    - module: `module` is what an import names, `node` the file that it loads
    - name: `name` in `module` is the definition or file `node`
    - forward: `name` in `module` is `to_name` in `to_module` of another repository; * is all names
    - base: the type `node` has the base `to_name` in `to_module`, or the node `to_name` of this repository
    - a `ServiceKind`: `name` is what clients name, `node` what answers

    `ecosystem` says how names are compared, `package` is the coordinate that a module belongs to, "" if none does.
    `row` is 0-based in the file of `node`, -1 if there is none.
    """

    kind: str
    ecosystem: str
    package: str
    module: str
    name: str
    node: str
    row: int = -1
    to_module: str = ""
    to_name: str = ""


class Used(NamedTuple):
    """Something that `node` names of another repository, `n` times, first in `row` (0-based) of its file.

    `kind` is import, call, reference, extends, member and attribute (a call and a reference of what a value has),
    requires (a declared dependency: `module` is the package, `name` the range of versions), or a `ServiceKind`.
    `module` is what an import names; several between spaces if the name may be of any. `name` is the chain of names
    below it, "" for the module itself.
    """

    kind: str
    ecosystem: str
    module: str
    name: str
    node: str
    row: int
    n: int = 1


_TYPES: dict[type, str] = {str: "string", int: "int32"}
Row = Published | Used


def schema_of(row: type[Published] | type[Used]) -> Any:
    """Return the Arrow schema of rows. Raises ExtraMissing."""
    try:
        import pyarrow as arrow
    except ImportError as error:
        raise ExtraMissing("a fleet needs more packages: pip install 'causalist[fleet]'") from error
    fields = [(name, getattr(arrow, _TYPES[kind])()) for name, kind in row.__annotations__.items()]
    return arrow.schema(fields, metadata={"causalist": str(FORMAT)})


def write_rows(path: Path, row: type[Published] | type[Used], rows: Iterable[Row]) -> None:
    """Write rows as a Parquet file, sorted."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    schema = schema_of(row)
    ordered = sorted(rows)
    columns = {name: [each[i] for each in ordered] for i, name in enumerate(row._fields)}
    parquet.write_table(arrow.table(columns, schema=schema), path, compression="zstd")
