"""Periodic work."""

from larder.jobs.release_holds import release_expired_holds
from larder.jobs.scheduler import Job, Scheduler

__all__ = ["Job", "Scheduler", "release_expired_holds"]
