"""Says in words why a function or a path is a step, or is not: the route, the line, the library, the name."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Iterable

from semel.compiler.model import Function, Model, Operation, Place

from .patterns import StepPattern
from .verdict import BodyVerdict, FunctionVerdict, Verdict, verdict

_MOST = 10  # paths and calls that are listed
_WHAT = {
    "automatic": "an automatic step",
    "once": "a step named by once",
    "transaction": "a step with a transaction of its own",
    "child": "the start of a child run",
    "saga step": "a step of a saga",
    "wait": "a wait",
}
_PATH = re.compile(r"[#@]")


def is_subject(text: str) -> bool:
    """Whether the text can be a step's path, or a function's name."""
    return bool(_PATH.search(text)) or all(part.isidentifier() for part in text.replace(":", ".").split("."))


def explanation(model: Model, subject: str) -> str:
    """Why a path (``fulfil/start@1/notify#auto:httpx.post``) or a function (``shop.notify``) is a step, or is not.

    Raises:
        LookupError: the program has no such function.
    """
    told = verdict(model)
    if _PATH.search(subject):
        return _of_path(model, told, subject)
    found = [one for one in told.functions if _is_named(one.function, subject)]
    if not found:
        names = [name for one in told.functions for name in (_name(one.function), one.function.name)]
        near = difflib.get_close_matches(subject, names, 3)
        raise LookupError(
            f"the program has no function {subject!r}"
            + (f"; is it {' or '.join(dict.fromkeys(near))}?" if near else "")
        )
    return "\n\n".join([_of_function(model, told, one) for one in found])


# ---------------------------------------------------------------------------------------------------------- a function


def _of_function(model: Model, told: Verdict, one: FunctionVerdict) -> str:
    function = one.function
    head = f"{_name(function)} ({_where(function.place)})"
    if function.operation is not None:
        return (
            f"{head} is a step: a call of it is one, named #auto:{function.operation.name}. {_why(function.operation)}"
        )
    if one.durability == "None":
        return "\n".join([f"{head} is no step, and leads to none, as far as the source shows.", *_no_step(model, one)])
    doubt = "" if one.certain else ", as far as the source shows"
    if one.durability == "External":
        first = f"{head} leads to a call that leaves the process{doubt}: {one.via}."
    else:
        first = f"{head} leads to a step of its own name{doubt}: {one.via}. It makes no call that leaves the process."
    lines = [first, "", "The way there:"]
    lines += [f"  {_where(hop.place)}  {_call(hop.call)} leads to {_target(model, hop.to)}" for hop in one.route]
    paths = [step.path for body in told.bodies for step in body.steps if _leads_through(function, step)]
    operation = _operation(model, one)
    if operation is not None:
        lines += ["", _why(operation), _how_named(operation)]
    lines += ["", *_paths(one, list(dict.fromkeys(paths)))]
    return "\n".join(lines)


def _no_step(model: Model, one: FunctionVerdict) -> list[str]:
    lost = [call for call in one.function.calls if call.lost is not None]
    lines = ["Each attempt runs it again, which costs nothing but its time."]
    if lost:
        lines += ["", "Of these calls in it nothing is known; if one leaves the process, that is seen when it happens:"]
        lines += [f"  {_where(call.place)}  {_call(call.callee)}: {call.lost}" for call in lost[:_MOST]]
    name = one.function.name
    lines += [
        "",
        f'To record its result, call it in a step: once("{name.strip("_")}", lambda: {name}(…)).',
        "To declare that it leaves the process, write @semel.external above it.",
    ]
    return lines


def _leads_through(function: Function, step: StepPattern) -> bool:
    return step.function == function.id or any(leg.to == function.id for leg in step.way)


def _paths(one: FunctionVerdict, paths: list[str]) -> list[str]:
    if not one.reached:
        return ["No workflow leads to it, so outside of a run the call simply happens."]
    if not paths:
        return []
    more = [f"  … and {len(paths) - _MOST} more"] if len(paths) > _MOST else []
    return [
        "Its steps, by their paths in the workflows that lead to it:",
        *[f"  {path}" for path in paths[:_MOST]],
        *more,
    ]


def _operation(model: Model, one: FunctionVerdict) -> Operation | None:
    end = model.functions[one.route[-1].function] if one.route else one.function
    return next((c.operation for c in end.calls if c.operation is not None and c.operation.name == one.via), None)


# -------------------------------------------------------------------------------------------------------------- a path


def _of_path(model: Model, told: Verdict, path: str) -> str:
    wanted = general(path)
    for body in told.bodies:
        for step in body.steps:
            if _fits(step.path, wanted):
                return _of_step(model, body, step, path)
    every = [step.path for body in told.bodies for step in body.steps]
    near = difflib.get_close_matches(wanted, every, 5, 0.5)
    lines = [f"No step of this program has the path {path}, as far as the source shows."]
    workflow = wanted.partition("/")[0]
    names = [body.workflow for body in told.bodies]
    if workflow not in names:
        lines.append(f"There is no workflow {workflow!r}; there {_are(names)}.")
    if near:
        lines += ["The nearest are:", *[f"  {found}" for found in near]]
    lines.append("A step that only a run shows (a call through a variable) is not among them: semel show RUN has it.")
    return "\n".join(lines)


def _of_step(model: Model, body: BodyVerdict, step: StepPattern, path: str) -> str:
    name = step.path.partition("#")[2]
    doubt = "" if step.certain else " (as far as the source shows)"
    what = _WHAT[step.kind]
    body_place = f"the body, {_name(body.function)} ({_where(body.function.place)}); after @ stands the visit"
    rows = [(f"{body.workflow}/{body.body}@*", body_place)]
    for leg in step.way:
        target = f" calls {_target(model, leg.to)}" if leg.to is not None else ""
        rows.append((leg.segment, f"{_call(leg.text)} on {_where(leg.place)}{target}{_of_passes(leg.segment)}"))
    before = len(f"{body.workflow}/{body.body}@*") + sum(len(leg.segment) for leg in step.way)
    passes = step.path.partition("#")[0][before:]
    rows.append((f"{passes}#{name}", f"the step itself, on {_where(step.place)}{_of_passes(passes)}"))
    width = max(len(part) for part, _ in rows)
    lines = [f"{path} is {what} of the workflow {body.workflow}{doubt}.", ""]
    lines += [f"  {part:<{width}}  {text}" for part, text in rows]
    source = model.lines(step.place.file)
    if step.place.line <= len(source):
        lines += ["", f"    {step.place.line} | {source[step.place.line - 1].strip()}"]
    lines.append("")
    if step.operation is not None:
        words = [_why(step.operation), _how_named(step.operation), _automatic_changes()]
    else:
        words = [
            f"It is a step because it is written so: {step.written}.",
            "Renaming the label, the workflow or a function on the way changes the path; moving code does not.",
        ]
    return "\n".join([*lines, *[textwrap.fill(text, 110, break_long_words=False) for text in words]])


def _of_passes(segment: str) -> str:
    return "; [*] is the pass of a loop round it" if "[*]" in segment else ""


def _automatic_changes() -> str:
    return (
        'What changes the path: putting the call in once("name", lambda: …) gives it that name; renaming the workflow '
        "or a function on the way, or calling another operation. What does not: other arguments, another variable or "
        "client, moving or reformatting the code."
    )


def general(path: str) -> str:
    """The path as a pattern: any visit, any pass, any attempt."""
    scope, mark, name = path.partition("#")
    scope = re.sub(r"\[[^\]]*\]", "[*]", re.sub(r"@(\d+|\*)", "@*", scope))
    return re.sub(r"~\d+", "", scope) + mark + re.sub(r"~\d+$", "", name)


def _fits(pattern: str, path: str) -> bool:
    if pattern == path:
        return True
    if "/*" not in pattern:
        return False
    expression = re.sub(r"/\\\*(?=[/\\#])", "/[^/#]+?", re.escape(pattern))
    return re.fullmatch(expression, path) is not None


# --------------------------------------------------------------------------------------------------------------- words


def _why(operation: Operation) -> str:
    match operation.source:
        case "library":
            return f"The call is made by {operation.library}, and leaves the process (rule A3): nobody marks it."
        case "sdk":
            return (
                f"The call is made by {operation.library}. Its own source shows that this leaves the process (rule "
                f"A3): nobody marks it."
            )
        case "client":
            return "It is an operation of a semel.Client, which leaves the process (rule A3): nobody marks it."
        case "external":
            return "It is declared with @external, so the whole of it is one step, and what it calls is part of that."
        case "pattern":
            return "It is named in [tool.semel] external, so the whole of it is one step."


def _how_named(operation: Operation) -> str:
    if not operation.library:
        return f"Its name is the function's own, {operation.name}, by where it is defined."
    root, _, rest = operation.name.partition(".")
    return f"Its name is the package {root} and the callee's own name there, {rest}, however the call is spelled."


def _target(model: Model, to: str) -> str:
    target = model.functions.get(to)
    return f"{_name(target)} ({_where(target.place)})" if target is not None else to


def _is_named(function: Function, subject: str) -> bool:
    wanted = subject.replace(":", ".")
    return wanted in (function.segment, _name(function)) or _name(function).endswith(f".{wanted}")


def _name(function: Function) -> str:
    return f"{function.module}.{function.segment}"


def _call(text: str) -> str:
    first = text.split("\n")[0]
    return first if first.endswith("…)") else f"{first}(…)"


def _where(place: Place) -> str:
    return f"{place.file}:{place.line}"


def _are(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"are {listed}" if listed else "is none"
