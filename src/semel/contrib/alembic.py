"""Alembic: migrations of the app's own tables leave those of semel alone, which lie in the same database.

Needs nothing but this function, given in ``env.py``: ``context.configure(…, include_name=include_name)``.
"""

from __future__ import annotations

from collections.abc import Mapping

_OURS = "semel_"


def include_name(name: str | None, type_: str, parent_names: Mapping[str, str | None]) -> bool:
    """Whether Alembic's autogenerate is to look at this name: not at tables of semel, nor at what they have."""
    table = name if type_ == "table" else parent_names.get("table_name")
    return table is None or not table.startswith(_OURS)
