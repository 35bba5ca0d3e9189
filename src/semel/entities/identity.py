"""Which row a run follows: its primary key, as the run's row holds it and as a person reads it."""

from __future__ import annotations

from typing import Any

from semel.codec import Codec
from semel.errors import EntityGone
from semel.workflow.definition import EntityDefinition

_LONGEST = 200  # characters of the id of a run


def key_of(codec: Codec, definition: EntityDefinition, item: Any) -> str:
    """The key of the item's row.

    Raises:
        TypeError: the item is not of the entity that the workflow follows.
        EntityGone: it has no row yet, or no more.
    """
    import sqlalchemy

    entity = definition.entity
    if not isinstance(item, entity):
        raise TypeError(f"{definition.name} follows rows of {entity.__qualname__}, not a {type(item).__qualname__}")
    state: Any = sqlalchemy.inspect(item)
    if state.deleted or state.was_deleted:
        raise EntityGone(
            f"{told(definition, state.identity)} was deleted, so {definition.name} has nothing to do there"
        )
    if state.identity is None:
        raise EntityGone(
            f"this {entity.__qualname__} has no row yet, so no run of {definition.name} follows it: add it to a "
            f"session and commit; or raise the event in the same transaction, with session=session"
        )
    return key_of_identity(codec, tuple(state.identity))


def key_of_identity(codec: Codec, identity: tuple[Any, ...]) -> str:
    """The primary key as the run's row holds it: two that differ in type differ."""
    return codec.encode(identity).hex()


def identity_of(codec: Codec, key: str) -> tuple[Any, ...]:
    """The primary key that the run's row holds."""
    identity: Any = codec.decode(bytes.fromhex(key.partition("~")[0]))
    return tuple(identity)


def run_id(definition: EntityDefinition, identity: tuple[Any, ...]) -> str:
    """The id of a run, which names the row: ``OrderFlow/5``."""
    text = ",".join(str(part) for part in identity)
    if not text.isprintable() or len(text) > _LONGEST:
        text = (
            f"{text[:_LONGEST].encode('ascii', 'replace').decode()}…" if text.isprintable() else repr(text)[:_LONGEST]
        )
    return f"{definition.name}/{text}"


def told(definition: EntityDefinition, identity: Any) -> str:
    """The row, for a message: ``Order 5``."""
    if not identity:
        return f"the {definition.entity.__qualname__}"
    return f"{definition.entity.__qualname__} {', '.join(map(repr, identity))}"
