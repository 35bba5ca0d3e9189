"""The row that a run follows: found, compared with what the run says, and moved to its next state.

Only a run writes the tracked attribute (rule W2): ``writing`` is set while it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import Any

from semel.codec import Codec
from semel.errors import EntityGone, EntityStateChanged, NotAllowedHere
from semel.workflow.definition import EntityDefinition

from .identity import identity_of, told

writing: ContextVar[bool] = ContextVar("semel_writing", default=False)


class Row:
    """The row of one run. What takes a ``session`` is called in its thread, or inside ``run_sync``."""

    def __init__(self, codec: Codec, definition: EntityDefinition, key: str) -> None:
        self.definition = definition
        self.identity = identity_of(codec, key)

    def __str__(self) -> str:
        return told(self.definition, self.identity)

    def load(self, session: Any, state: str) -> Any:
        """The item, which must be in this state.

        Raises:
            EntityGone: there is no such row.
            EntityStateChanged: it is in another state, or in one that the program does not have.
        """
        entity = self.definition.entity
        try:
            item = session.get(entity, self.identity)
            found = None if item is None else getattr(item, self.definition.attribute)
        except LookupError as error:  # what SQLAlchemy says of a value that is no member of the enum
            raise self._changed(str(error), state) from error
        if item is None:
            raise EntityGone(
                f"there is no {self} in the database, which the run {self.definition.name} follows: it was deleted "
                f"without the session knowing. Put it back and run.retry(), or run.cancel()"
            )
        self._compare(found, state)
        return item

    def compare(self, session: Any, state: str) -> None:
        """Compares the row as it is in the database now, when no one else can write it any more."""
        import sqlalchemy

        entity: Any = self.definition.entity
        mapper: Any = sqlalchemy.inspect(entity)
        keys = [
            getattr(entity, mapper.get_property_by_column(column).key) == value
            for column, value in zip(mapper.primary_key, self.identity, strict=True)
        ]
        column = getattr(entity, self.definition.attribute)
        with session.no_autoflush:
            found = session.execute(sqlalchemy.select(column).where(*keys)).one_or_none()
        if found is None:
            raise EntityGone(f"{self} was deleted while a body of {self.definition.name} ran for it")
        self._compare(found[0], state)

    def still_in(self, session: Any, item: Any) -> None:
        """Raises where the body has taken the item out of its session, or closed that."""
        if item not in session:
            raise self.lost()

    def lost(self) -> NotAllowedHere:
        """The body has undone what it wrote."""
        return NotAllowedHere(
            f"the body of {self.definition.name} for {self} has closed its session, rolled it back or taken self.item "
            f"out of it, so what it wrote is gone. Leave close(), rollback(), expunge() and `with app.session()` out "
            f"of a body: its session is closed when it ends; for a part that may fail write "
            f"`with self.session.begin_nested():`"
        )

    def move(self, session: Any, item: Any, to: Enum) -> None:
        """Writes the next state."""
        with self.written():
            setattr(item, self.definition.attribute, to)
            session.flush()

    @contextmanager
    def written(self) -> Iterator[None]:
        """In it the tracked attribute may be written."""
        token = writing.set(True)
        try:
            yield
        finally:
            writing.reset(token)

    def _compare(self, found: Any, state: str) -> None:
        name = found.name if isinstance(found, Enum) else repr(found)
        if name != state:
            raise self._changed(name, state)

    def _changed(self, found: str, state: str) -> EntityStateChanged:
        definition = self.definition
        return EntityStateChanged(
            f"{self} is in the state {found}, and its run of {definition.name} has brought it to {state}: something "
            f"else wrote {definition.entity.__qualname__}.{definition.attribute}. Put {state} back there and "
            f"run.retry(); or run.cancel(), and {definition.name}.adopt(…) follows the row from the state that it is in"
        )
