"""The name of one call of a user function: the calls that lead to it, each with what its value is given to.

It is for values, not for steps: two calls of one helper have one path, and a step in both is refused, but what they
read must differ (rule A5). The order of time has no part in it. A call that may go on beside others (a coroutine that
is not awaited where it is made, a generator, a function on a thread) is told from others of its name when it is made,
in the order in which its caller makes them.
"""

from __future__ import annotations

import hashlib

from semel.errors import NotAllowedHere

from .path import Origin, Path, pass_name
from .targets import target

_LONGEST = 200  # characters; what is longer is known by its digest


def known_as(path: Path) -> str:
    """The name of the call that ``path`` leads to; two that may run at the same time never share it."""
    missing: list[Path] = []
    at: Path | None = path
    while at is not None and not hasattr(at, "known_as"):
        missing.append(at)
        at = at.parent
    name = "" if at is None else at.known_as
    for step in reversed(missing):
        name = _bounded(f"{name}{passed(step.passes)}{_segment(step)}")
        step.known_as = name
    return name


def told_apart(path: Path) -> None:
    """Gives the call a name of its own: it may run when its caller has gone on."""
    try:
        name = known_as(path)
    except (TypeError, NotAllowedHere):
        return  # a pass that cannot be named: said when something is read there
    number = path.execution.values.number(name)
    if number:
        path.known_as = f"{name}~{number}"


def aside(site: Path) -> Path:
    """Where a function runs that the foreign call at ``site`` lets run beside its caller: the caller's own path."""
    parent = site.parent
    assert parent is not None
    told_apart(site)
    made = Path(parent, site.passes, "", site.execution, parent.wrapped)
    if hasattr(site, "known_as"):
        made.known_as = site.known_as
    return made


def latest_call(path: Path) -> Origin | None:
    """The call that the function at this path makes just now, where it is known."""
    return getattr(path, "at", None)


def called_from(path: Path, parent: Path) -> None:
    """Says that the latest call of ``parent`` made ``path``."""
    origin = getattr(parent, "at", None)
    if origin is not None:
        path.called_in, path.called_at = origin


def passed(passes: tuple[object, ...]) -> str:
    """``[0][="A-1"]``."""
    return "".join([f"[{pass_name(number)}]" for number in passes]) if passes else ""


def _segment(path: Path) -> str:
    if path.parent is None:
        return path.name
    if not path.name:  # what a wrapper wraps
        return ""
    given = target((path.called_in, path.called_at)) if hasattr(path, "called_in") else ""
    return f"/{path.name}({given})" if given else f"/{path.name}"


def _bounded(name: str) -> str:
    if len(name) <= _LONGEST:
        return name
    return "#" + hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
