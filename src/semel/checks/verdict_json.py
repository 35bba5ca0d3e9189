"""The verdict as plain data: the document that ``semel model --json`` prints, described in docs/reference/model.md."""

from __future__ import annotations

from typing import Any

from semel.compiler.model import Place

from .patterns import StepPattern
from .verdict import BodyVerdict, FunctionVerdict, Hop, Unresolved, Verdict

#: Raised when a field is taken away or means something else; new fields do not change it.
SCHEMA = 1


def as_dict(verdict: Verdict) -> dict[str, Any]:
    """The whole document."""
    return {
        "schema": SCHEMA,
        "bodies": [_body(body) for body in verdict.bodies],
        "functions": [_function(told) for told in verdict.functions],
        "unresolved": [_unresolved(call) for call in verdict.unresolved],
        "unreadable": [{**_place(file.place), "reason": file.reason} for file in verdict.unreadable],
    }


def _body(body: BodyVerdict) -> dict[str, Any]:
    return {
        "workflow": body.workflow,
        "body": body.body,
        "function": body.function.id,
        **_place(body.function.place),
        "complete": body.complete,
        "steps": [_step(step) for step in body.steps],
    }


def _step(step: StepPattern) -> dict[str, Any]:
    return {
        "path": step.path,
        "kind": step.kind,
        "label": step.label,
        "operation": step.operation.name if step.operation is not None else None,
        "library": (step.operation.library or None) if step.operation is not None else None,
        "function": step.function,
        **_place(step.place),
        "certain": step.certain,
    }


def _function(told: FunctionVerdict) -> dict[str, Any]:
    return {
        "function": told.function.id,
        "name": told.function.segment,
        "module": told.function.module,
        **_place(told.function.place),
        "durability": told.durability,
        "durabilityVia": told.via,
        "route": [_hop(hop) for hop in told.route],
        "certain": told.certain,
        "reached": told.reached,
    }


def _hop(hop: Hop) -> dict[str, Any]:
    return {"function": hop.function, **_place(hop.place), "call": hop.call, "to": hop.to}


def _unresolved(call: Unresolved) -> dict[str, Any]:
    return {
        "function": call.function.id,
        **_place(call.place),
        "call": call.call,
        "why": call.why,
        "reached": call.reached,
    }


def _place(place: Place) -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "column": place.column}
