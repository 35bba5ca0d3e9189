"""``two-functions-of-one-name`` (O18): a segment of a path means one function, in exclusive arms too."""

from __future__ import annotations

from collections.abc import Iterator

from semel.compiler.model import Call, Function, Model

from .paths import keyed, name_of, reached, same_passes
from .problem import Problem

RULE = "two-functions-of-one-name"


def check(model: Model) -> Iterator[Problem]:
    for function in reached(model):
        told: set[int] = set()
        for (_, _, segment), calls in keyed(model, function).items():
            calls = sorted(calls, key=lambda entry: (entry[0].place, entry[0].site))
            for position, (later, target) in enumerate(calls):
                others = [
                    (earlier, other)
                    for earlier, other in calls[:position]
                    if _different(model, earlier, later) and other != target and same_passes(earlier, later)
                ]
                if others and later.site not in told and segment:
                    told.add(later.site)
                    yield _problem(model, function, segment, others[0], (later, target))


def _different(model: Model, first: Call, second: Call) -> bool:
    """Whether two calls surely lead to different functions."""
    if first.site == second.site or not {first.certainty, second.certainty} <= {"sure", "foreign"}:
        return False
    targets = {candidate.function for candidate in first.candidates}
    return targets.isdisjoint(candidate.function for candidate in second.candidates)


def _problem(
    model: Model, function: Function, segment: str, first: tuple[Call, str], second: tuple[Call, str]
) -> Problem:
    one, other = model.functions[first[1]], model.functions[second[1]]
    way_out = "Give each a name of its own, with def." if other.kind == "lambda" else "Rename one of them."
    message = (
        f"{name_of(function)} calls two functions that are both named {segment}: on line {first[0].place.line} the one "
        f"of {one.module} (line {one.place.line}), on line {second[0].place.line} the one of {other.module} (line "
        f"{other.place.line}). Both hold steps, and a path has the name alone, so the steps of one could be taken for "
        f"those of the other, and not run. {way_out}"
    )
    places = (first[0].place, one.place, other.place)
    kind = "async def" if other.is_async else "def"
    owner = other.module.rpartition(".")[2].strip("_")
    new = "name_of_what_it_does" if other.kind == "lambda" else f"{other.name}_of_{owner}"
    parameters = ", ".join(parameter.name for parameter in other.parameters)
    fix = f"{kind} {new}({parameters}):    # in {other.module}\n    …\n\n{new}({', '.join(second[0].arguments)})"
    return Problem(RULE, "O18", message, second[0].place, places, fix)
