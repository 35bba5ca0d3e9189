"""What the programs do when nothing happens to them: measured once, and what may differ from it by their own making."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from crash_effects import workflow_of
from crash_judge import Undisturbed
from crash_story import Story

#: Steps of tasks that go on, or do not, when a sibling has failed, and steps whose time may be up before they begin.
OPTIONAL = {
    "gathers": {"/in_order[1]#a", "/in_order[2]#a"},
    "task_group_fails": {"/steady#two"},
    "times_out": {"#slow", "/slow_helper#slow"},
}

#: Steps that their body has stopped waiting for.
ABANDONED = {
    "gathers": {"/in_order[0]#a", "/in_order[1]#a", "/in_order[2]#a", "/in_order_too#b"},
    "task_group_fails": {"/steady#one", "/steady#two"},
    "times_out": {"#slow", "/slow_helper#slow"},
}


def undisturbed_runs(folder: Path, workflows: list[str], program: str = "crash_shop.all") -> dict[str, Undisturbed]:
    """Each workflow run once with nothing in its way; with those of the children that they start."""
    story = Story(folder, program)
    try:
        ending = story.finish(*(f"{workflow}-1" for workflow in workflows))
    finally:
        story.clean_up()
    assert not ending.doubles()
    steps: dict[str, set[str]] = defaultdict(set)
    for call in ending.calls:
        steps[call.start.run].add(call.step)
    return {
        workflow_of(run): Undisturbed(
            status=ended["status"],
            result=ended["result"],
            error=ended["error"],
            steps=frozenset(steps[run]),
            optional=_paths(workflow_of(run), OPTIONAL),
            abandoned=_paths(workflow_of(run), ABANDONED),
            visits=ended["visits"],
        )
        for run, ended in ending.report.items()
    }


def _paths(workflow: str, suffixes: dict[str, set[str]]) -> frozenset[str]:
    return frozenset(f"{workflow}/start@1{suffix}" for suffix in suffixes.get(workflow, ()))
