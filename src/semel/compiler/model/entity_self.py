"""What ``self`` has in a body of an entity workflow besides what its class declares: the item and the session."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import intrinsics
from .scopes import ClassRecord
from .values import Foreign, ForeignInst, Values

if TYPE_CHECKING:
    from .infer import Inference

_SESSIONS = {"session": "sqlalchemy.orm.Session", "async_session": "sqlalchemy.ext.asyncio.AsyncSession"}


def attribute(cls: ClassRecord, name: str, inference: Inference) -> Values | None:
    """What ``self.item`` and the like may be; None where it is nothing of a ``Workflow``, or is not seen."""
    if name not in ("item", *_SESSIONS):
        return None
    for entry in inference.program.mro(cls):
        for base in entry.node.bases if isinstance(entry, ClassRecord) else ():
            assert isinstance(entry, ClassRecord)
            names = [value.name for value in inference.base(base, entry) if isinstance(value, Foreign)]
            if any(intrinsics.is_entity_workflow(dotted) for dotted in names):
                if name in _SESSIONS:
                    return frozenset({ForeignInst(_SESSIONS[name])})
                if isinstance(base, ast.Subscript):
                    return inference.annotations.read(base.slice, entry.parent)
    return None
