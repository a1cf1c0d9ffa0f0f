"""What all repositories share."""

from larder.errors import NotFound
from larder.infra.database import Database


class Repository:
    noun = "thing"

    def __init__(self, database: Database) -> None:
        self._db = database

    def missing(self, key: object) -> NotFound:
        return NotFound(f"There is no {self.noun} {key!r}")
