"""Runs jobs that are due. The table of last runs keeps two workers from doing the same."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from larder.infra.clock import Clock
from larder.infra.database import Database

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    name: str
    every: timedelta
    run: Callable[[], None]


class Scheduler:
    def __init__(self, database: Database, clock: Clock, jobs: Sequence[Job]) -> None:
        self._db = database
        self._clock = clock
        self._jobs = jobs

    def run_due(self) -> list[str]:
        """Names of the jobs that ran. One that fails is logged and does not keep the others from running."""
        ran = []
        for job in self._jobs:
            if not self._take_turn(job):
                continue
            try:
                job.run()
            except Exception:
                log.exception("job %s failed", job.name)
            else:
                ran.append(job.name)
        return ran

    def _take_turn(self, job: Job) -> bool:
        now = self._clock()
        with self._db.transaction():
            due_before = (now - job.every).isoformat()
            row = self._db.row("SELECT last_run FROM job_runs WHERE job = ?", job.name)
            if row is not None and row["last_run"] > due_before:
                return False
            self._db.execute("INSERT OR REPLACE INTO job_runs VALUES (?, ?)", job.name, now.isoformat())
            return True
