"""The lints: what is allowed, runs, and hurts later. ``semel lint`` tells them; they never stop a program.

Each is a file of its own with a stable id, and reads the program model only.
"""

from __future__ import annotations

from collections.abc import Iterable

from semel.checks.problem import Problem
from semel.compiler.model import Model
from semel.compiler.model.routes import Routes

from . import (
    call_not_resolved,
    effect_without_a_step,
    global_changed,
    handler_swallows_a_park,
    result_cannot_be_recorded,
    retried_step_repeats_several_calls,
    sleep_outside_a_step,
    value_read_again_on_retry,
    waits_on_a_slow_call,
)

_CHECKS = {
    check.RULE: check.check
    for check in (
        call_not_resolved,
        effect_without_a_step,
        global_changed,
        handler_swallows_a_park,
        result_cannot_be_recorded,
        retried_step_repeats_several_calls,
        sleep_outside_a_step,
        value_read_again_on_retry,
        waits_on_a_slow_call,
    )
}

#: The ids of all lints; each has a page in the documentation.
LINTS = tuple(_CHECKS)


def lints(model: Model, rules: Iterable[str] = LINTS) -> list[Problem]:
    """What these lints find in the program, in the order of the source."""
    routes = Routes(model)
    found = [problem for rule in LINTS if rule in set(rules) for problem in _CHECKS[rule](model, routes)]
    return sorted(found, key=lambda problem: (problem.place, problem.rule))
