"""The names of the programs in ``crash_shop``; of those in ``crash_shop.timed`` the ones that end by themselves."""

from __future__ import annotations

SYNC = [
    "sequence",
    "loops",
    "three_deep",
    "cleans_up",
    "handles_failures",
    "nested",
    "pool",
    "called_back",
    "ends_in_a_failure",
    "writes_rows",
]
ASYNC = [
    "async_sequence",
    "gathers",
    "gathers_all",
    "task_group",
    "task_group_fails",
    "times_out",
    "async_loops",
    "async_cleans_up",
    "threads",
    "tasks",
    "async_ends_in_a_failure",
    "async_writes_rows",
]
ALL = SYNC + ASYNC
WAITING = [
    "retries",
    "async_retries",
    "exhausts",
    "naps",
    "async_naps",
    "family",
    "async_family",
    "races",
    "everything",
    "agains",
]
