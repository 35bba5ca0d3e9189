"""What of semel makes a step, by its dotted name: ``once``, the waits, children, sagas and transactions."""

from __future__ import annotations

from .data import Form

_FORMS: dict[str, Form] = {
    "once": "once",
    "transaction": "transaction",
    "transaction_async": "transaction",
    "run_child": "child",
    "saga": "saga",
    "Saga().step": "saga step",
    "sleep": "sleep",
    "sleep_async": "sleep",
    "sleep_until": "sleep",
    "sleep_until_async": "sleep",
    "wait_for": "event",
    "wait_for_async": "event",
    "wait_first": "first",
    "wait_first_async": "first",
}
#: They wait for what has a path of its own, the child, and have none themselves.
_JOINS = frozenset({"wait_all", "wait_all_async", "Child().result", "Child().result_async"})
_CLASSES = {"run_child": "semel.Child", "wait_first": "semel.Child", "wait_first_async": "semel.Child"}
#: The names that `from semel import *` brings, as far as the model asks.
PUBLIC = frozenset(name for name in (*_FORMS, *_JOINS) if "(" not in name) | {
    *("Backoff", "Event", "Child", "Saga"),
    *("Workflow", "on", "enter", "expire", "remind", "milestone", "success", "error", "cancel"),
}


def form_of(dotted: str) -> Form | None:
    """What kind of step a call of it makes; None if it makes none."""
    return _FORMS.get(_own_name(dotted))


def is_join(dotted: str | None) -> bool:
    """Whether a call of it waits for children."""
    return dotted is not None and _own_name(dotted) in _JOINS


def made_by(dotted: str) -> str | None:
    """The class of semel whose instance a call of it gives."""
    name = _own_name(dotted)
    return "semel.Saga" if name == "saga" else _CLASSES.get(name)


def derived(dotted: str) -> str:
    """What names a wait without a label; of one for an event this is the first half."""
    return _own_name(dotted).removesuffix("_async")


def is_backoff(dotted: str) -> bool:
    """Whether it is a classmethod of ``Backoff`` that makes a policy."""
    return _own_name(dotted) in ("Backoff.exponential", "Backoff.constant", "Backoff.linear")


def is_event(dotted: str) -> bool:
    """Whether it is the class ``Event``."""
    return _own_name(dotted) == "Event"


def _own_name(dotted: str) -> str:
    """``sleep`` of ``semel.sleep`` and ``semel.workflow.sleep.sleep``, ``Saga().step`` of ``semel.Saga().step``."""
    if not dotted.startswith("semel."):
        return ""
    name = dotted.removeprefix("semel.")
    if name.startswith("workflow."):
        _, _, inside = name.removeprefix("workflow.").partition(".")
        name = inside or name.removeprefix("workflow.")
    return name
