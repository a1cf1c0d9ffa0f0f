"""Calls observed while code ran: a recorder, its records, and the graph with these records.

In: a command that starts Python processes, an index. Out: a file of callers and callees beside the index, and a graph
with edges that the records confirm, add or lower. Ranking does not use the records.
"""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.observe.command_runs import RunFolder, begin_run, delete_run, read_run, run_command
    from causalist.observe.observed_calls import (
        OBSERVED,
        Freshness,
        ObservedGraph,
        ObservedStore,
        StaleCall,
        add_run,
        changed_paths,
        count_observed,
        forget,
        list_killed,
        observed_graph,
        read_store,
        stale_calls,
        take_up_runs,
        test_records,
        unseen_confidence,
    )

__all__ = [
    "OBSERVED",
    "Freshness",
    "ObservedGraph",
    "ObservedStore",
    "RunFolder",
    "StaleCall",
    "add_run",
    "begin_run",
    "changed_paths",
    "count_observed",
    "delete_run",
    "forget",
    "list_killed",
    "observed_graph",
    "read_run",
    "read_store",
    "run_command",
    "stale_calls",
    "take_up_runs",
    "test_records",
    "unseen_confidence",
]

__getattr__ = exports(
    __name__,
    {
        "command_runs": "RunFolder begin_run delete_run read_run run_command",
        "observed_calls": "Freshness OBSERVED ObservedGraph ObservedStore StaleCall add_run changed_paths "
        "count_observed forget list_killed observed_graph read_store stale_calls take_up_runs test_records "
        "unseen_confidence",
    },
)
