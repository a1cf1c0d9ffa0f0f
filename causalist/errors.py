"""The one error family of Causalist.

Every error that a user can meet is a `CausalistError` with a stable slug; the slug leads to an entry in
`docs/messages.md`. Broken source code is input and never raises one of these: `parse` returns facts and diagnostics.
"""

import os
from typing import ClassVar


class CausalistError(Exception):
    """Something that the caller can act upon; the message says what was found and what would work."""

    slug: ClassVar[str] = "error"


class UsageError(CausalistError):
    """An option or argument is outside of what is accepted."""

    slug = "usage"


class SettingsError(UsageError):
    """A settings file of the repository says something that is no setting."""

    slug = "settings"


class EmptyQuestion(UsageError):
    """The question has no characters other than white space."""

    slug = "empty-question"


class RepositoryNotFound(CausalistError):
    """The folder does not exist, is not a folder, or cannot be read."""

    slug = "repository-not-found"


class RefusedRoot(CausalistError):
    """The folder is a home directory or the root of a file system."""

    slug = "refused-root"


class GitError(CausalistError):
    """git could not be run, or refused what was asked."""

    slug = "git"


class NothingToIndex(CausalistError):
    """The folder holds no file that can be searched."""

    slug = "nothing-to-index"


class UnknownNode(CausalistError):
    """No node has the id or name that was asked for."""

    slug = "unknown-node"


class UnreadNode(UnknownNode):
    """The name is in a file that the index leaves out: `path`, for `reason`."""

    slug = "unread-node"

    def __init__(self, message: str, path: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.reason = reason


class UnreadableCoverage(CausalistError):
    """A coverage file is damaged or of an unknown format."""

    slug = "unreadable-coverage"


class ProofFailed(CausalistError):
    """Tests cannot be run on broken code: no Python with pytest, or none that imports the copy."""

    slug = "proof-failed"


class AmbiguousNode(CausalistError):
    """Several nodes answer to the name; the message lists the candidates.

    `name` is the name as given, `candidates` are the ids of all nodes that it may mean.
    """

    slug = "ambiguous-node"

    def __init__(self, message: str, name: str = "", candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.name = name
        self.candidates = candidates


class FleetError(CausalistError):
    """The list of repositories, their store or a shard in it is missing, damaged or cannot be written."""

    slug = "fleet"


class UnknownEntity(CausalistError):
    """No passage of the memory names the entity."""

    slug = "unknown-entity"


class ModelFailed(CausalistError):
    """A language or embedding model is not known, or did not answer."""

    slug = "model-failed"


class GrammarError(CausalistError):
    """A grammar folder is missing or its language.toml or queries do not load."""

    slug = "grammar"


class IndexUnreadable(CausalistError):
    """An index file is damaged, truncated or of another version; it is rebuilt."""

    slug = "index-unreadable"


class IndexNotWritable(CausalistError):
    """The index could not be written where it belongs."""

    slug = "index-not-writable"


class IndexingStopped(CausalistError):
    """The process that indexes for a server ended without an index."""

    slug = "indexing-stopped"


class DeadlinePassed(CausalistError):
    """Time was up before there was anything to answer from."""

    slug = "deadline"


class ExtraMissing(CausalistError):
    """A requested feature needs packages that are not installed."""

    slug = "extra-missing"


class SettingsUnreadable(CausalistError):
    """A client's settings file is not what its client reads, so it is not touched."""

    slug = "settings-unreadable"


class ConvergenceError(CausalistError):
    """An iteration ended without the precision that was demanded."""

    slug = "convergence"


class BudgetTooSmall(UsageError):
    """The token budget is below what the chosen format needs to say anything."""

    slug = "budget-too-small"


class EvaluationError(CausalistError):
    """The questions or the clones of an evaluation are not as they should be."""

    slug = "evaluation"


def is_recoverable(error: Exception) -> bool:
    """Return True if indexing may skip the file that raised `error` and report a diagnostic.

    With CAUSALIST_TRACEBACK set, always False, so that the traceback is shown.
    """
    return not isinstance(error, MemoryError | CausalistError) and not os.environ.get("CAUSALIST_TRACEBACK")
