"""The milestones of an entity workflow, as they are declared and with their hooks."""

from __future__ import annotations

from typing import Any

from .backoff import Backoff
from .collecting import Collected
from .definition import HookBody, MilestoneDefinition
from .delays import delay
from .places import refused
from .states import Milestone
from .tracking import Tracked


def milestones(
    cls: type, of: Tracked, given: Collected, hooks: dict[tuple[Milestone, str], HookBody]
) -> dict[str, MilestoneDefinition]:
    """By the name of the attribute.

    Raises:
        RegistrationError: one can never be reached, or a part of it has no effect.
    """
    return {
        name: _milestone(f"{cls.__qualname__}.{name}", name, of, each, hooks) for name, each in given.milestones.items()
    }


def _milestone(
    where: str, name: str, of: Tracked, each: Milestone, hooks: dict[tuple[Milestone, str], HookBody]
) -> MilestoneDefinition:
    states = tuple([of.state(state, "milestone(…)", each.place, where) for state in each.states])
    since = tuple([of.state(state, "since=", each.place, where) for state in each.since])
    within = delay(each.within, "within", "milestone(…)", of.entity, each.place, where)
    finished, unfinished = hooks.get((each, "finished")), hooks.get((each, "unfinished"))
    problem = None
    if not states:
        problem = f"it names no state, so it is never reached: write milestone({of.shown(next(iter(of.enum)))}, …)"
    elif not _counts(each.retries):
        problem = f"retries={each.retries!r} does not say how often: write retries=2"
    elif each.backoff is not None and not isinstance(each.backoff, Backoff):
        problem = f"backoff={each.backoff!r} says not how far apart: write backoff=Backoff.constant(timedelta(days=1))"
    elif each.retries and unfinished is None:
        problem = (
            f"retries={each.retries} says how often its unfinished hook runs again, and it has none, so nothing would "
            f"happen: write @{name}.unfinished above a method, or take retries away"
        )
    elif unfinished is not None and within is None:
        problem = (
            f"its time is never over, so {unfinished.method} would never run: write "
            f"milestone(…, within=timedelta(days=5))"
        )
    if problem is not None:
        raise refused(each.place, where, problem)
    return MilestoneDefinition(name, states, since, within, each.retries, each.backoff, finished, unfinished)


def _counts(retries: Any) -> bool:
    return isinstance(retries, int) and not isinstance(retries, bool) and retries >= 0
