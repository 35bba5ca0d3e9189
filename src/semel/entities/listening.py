"""What semel hears of the app's own rows through SQLAlchemy: an insert starts a run, a delete ends it (rules W2, W3).

It also refuses to let anybody but a run write the attribute that the run tracks.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from semel.compiler import current
from semel.engine.keys import FORMAT
from semel.errors import ConfigurationError, EntityStateChanged, NotAllowedHere, StoreError
from semel.store.interface import ENDED, NewRun
from semel.store.interface import Run as Row
from semel.workflow.definition import EntityDefinition

from .flow import flow_of, text_of
from .identity import key_of_identity, run_id, told
from .moving import begun
from .rows import writing

if TYPE_CHECKING:
    from semel.app import App


def listen(app: App, definition: EntityDefinition) -> None:
    """Hears of every row of the entity, from now on."""
    from sqlalchemy import event
    from sqlalchemy.orm import Session

    listener = Listener(app, definition)
    attribute: Any = getattr(definition.entity, definition.attribute)
    event.listen(definition.entity, "before_insert", listener.before_insert, propagate=True)
    event.listen(definition.entity, "after_insert", listener.after_insert, propagate=True)
    event.listen(definition.entity, "after_delete", listener.after_delete, propagate=True)
    event.listen(attribute, "set", listener.on_set, propagate=True)
    event.listen(Session, "do_orm_execute", listener.on_execute)
    event.listen(Session, "before_flush", listener.before_flush)


class Listener:
    """What happens for one workflow. A class that was registered anew (a reload) is heard by the newest only."""

    def __init__(self, app: App, definition: EntityDefinition) -> None:
        self._app = app
        self._first = definition

    @property
    def _definition(self) -> EntityDefinition:
        """The newest one of the name, if a module was executed again."""
        return self._app.entities.get(self._first.name, self._first)

    @property
    def _is_current(self) -> bool:
        return self._definition.entity is self._first.entity

    # ------------------------------------------------------------------------------------------------ inserts, deletes

    def before_flush(self, session: Any, *_: Any) -> None:
        """Opens the store while nobody holds the database: a new one cannot be made under the flush's own lock."""
        if self._is_current and any(isinstance(item, self._definition.entity) for item in session.new):
            self._app.check()
            assert self._app.store

    def before_insert(self, mapper: Any, connection: Any, item: Any) -> None:
        """A row without a state begins in the first one."""
        definition = self._definition
        if self._is_current and getattr(item, definition.attribute) is None:
            token = writing.set(True)
            try:
                setattr(item, definition.attribute, definition.initial)
            finally:
                writing.reset(token)

    def after_insert(self, mapper: Any, connection: Any, item: Any) -> None:
        """Starts the run, in the transaction that inserts the row."""
        definition = self._definition
        if self._is_current and definition.autostart:
            start(self._app, definition, connection, item, getattr(item, definition.attribute), new=True)
            self._app.signals.started()

    def after_delete(self, mapper: Any, connection: Any, item: Any) -> None:
        """Ends the run, as the workflow declares."""
        definition = self._definition
        if not self._is_current or definition.on_delete == "keep":
            return
        identity = tuple(mapper.primary_key_from_instance(item))
        driver = connection.connection.dbapi_connection
        row = self._app.store.of_entity(definition.name, key_of_identity(self._app.codec, identity), driver)
        if row is None or row.status in ENDED:
            return
        path = current.get()
        if path is not None and not path.execution.over and path.execution.run == row.uid:  # type: ignore[attr-defined]
            raise NotAllowedHere(
                f"{told(definition, identity)} cannot be deleted by its own run ({path.prefix()}): the run would end "
                f"before this body's commit. Return an end state, and delete the row when the run has ended"
            )
        if definition.on_delete == "refuse":
            state = flow_of(row.flow or "").state
            raise NotAllowedHere(
                f"{told(definition, identity)} cannot be deleted: {definition.name} follows it, in the state {state}, "
                f'and says on_delete="refuse". Bring it to its end first, or cancel its run {row.id!r}'
            )
        self._app.store.cancel_in(driver, row.uid, self._app.now())
        self._app.signals.started()

    # --------------------------------------------------------------------------------------------- who writes the state

    def on_set(self, item: Any, value: Any, old: Any, initiator: Any) -> None:
        """Refuses to have the state written by anybody but the run."""
        from sqlalchemy import inspect

        definition = self._definition
        if writing.get() or not self._is_current:
            return
        state: Any = inspect(item)
        if value is not None and value is state.dict.get(definition.attribute):
            return  # as it is: a merge, a form that writes all fields
        if state.key is not None:
            raise self._not_written(f"{told(definition, state.identity)}: {self._column} = {_name(value)}")
        if definition.autostart and value is not definition.initial and value is not None:
            raise EntityStateChanged(
                f"a new {definition.entity.__qualname__} begins in {_name(definition.initial)}, which "
                f"{definition.name} declares as initial, not in {_name(value)}; leave {definition.attribute} out"
            )

    def on_execute(self, execution: Any) -> None:
        """Refuses statements that would change states, or insert rows, past the session."""
        if not self._is_current or not (execution.is_update or execution.is_insert):
            return
        definition = self._definition
        mapper, statement = execution.bind_mapper, execution.statement
        if mapper is None or not (issubclass(mapper.class_, definition.entity)):
            return
        if execution.is_insert:
            if definition.autostart:
                raise NotAllowedHere(
                    f"insert({definition.entity.__qualname__}) writes rows past the session, so that {definition.name} "
                    f"would not start for them; write session.add_all([{definition.entity.__qualname__}(…), …])"
                )
            return
        values = getattr(statement, "_values", None) or {}
        given = execution.parameters if isinstance(execution.parameters, list) else [execution.parameters or {}]
        names = {getattr(key, "key", key) for key in values} | {key for each in given for key in each}
        column = getattr(definition.entity, definition.attribute).property.columns[0].key
        if definition.attribute in names or column in names:
            raise self._not_written(f"update({definition.entity.__qualname__}) would write {self._column}")

    @property
    def _column(self) -> str:
        return f"{self._definition.entity.__qualname__}.{self._definition.attribute}"

    def _not_written(self, what: str) -> NotAllowedHere:
        definition = self._definition
        events = ", ".join(f"{definition.name}.{name}" for name in definition.events) or "an event"
        return NotAllowedHere(
            f"{what}: only the run of {definition.name} writes it, or the state and the run would differ. Raise an "
            f"event ({events}), whose arm returns the next state"
        )


def start(app: App, definition: EntityDefinition, connection: Any, item: Any, state: Enum, *, new: bool) -> Row:
    """Starts a run for the row, in the transaction of this connection; or gives the one that follows it.

    A ``new`` row that has a run has the key of one that was deleted, whose run is ended (rule O12).

    Raises:
        ConfigurationError: the connection is to another database than the app's.
    """
    from sqlalchemy import inspect

    mapper: Any = inspect(definition.entity)
    identity = tuple(mapper.primary_key_from_instance(item))
    key = key_of_identity(app.codec, identity)
    now = app.now()
    run = NewRun(
        uid=secrets.token_hex(16),
        id=run_id(definition, identity),
        workflow=definition.name,
        args=app.codec.encode(None),
        seed=secrets.token_bytes(32),
        format=FORMAT,
        created_at=now,
        entity=key,
        flow=text_of(begun(definition, item, state, now)),
    )
    driver = connection.connection.dbapi_connection
    store = app.store
    try:
        found = store.of_entity(definition.name, key, driver)
        if found is not None and found.status not in ENDED:
            if not new:
                return found
            store.leave_in(driver, found.uid, now)
        if not store.start_in(driver, run):
            store.start_in(driver, replace(run, id=f"{run.id}~{run.uid[:8]}"))
        started = store.of_entity(definition.name, key, driver)
    except StoreError as error:
        if "no such table" not in str(error):
            raise
        raise ConfigurationError(
            f"{told(definition, identity)} was written to a database in which semel has no tables: the session is on "
            f"another database than the app {app.name!r}. Open it with app.session(), or give the App this engine"
        ) from error
    assert started is not None
    return started


def refuse_own_lock(item: Any, call: str) -> None:
    """Refuses to drive beside a transaction of the caller's that holds the database: it would wait for it in vain."""
    from sqlalchemy.orm import object_session

    session: Any = object_session(item)
    if session is None or not session.in_transaction():
        return
    if session.new or session.dirty or session.deleted or _holds_the_database(session):
        raise NotAllowedHere(
            f"{call}(…): the session of this object has changes that are not committed, and a transaction of its own "
            f"would not see them, or wait for them in vain. Write {call}(…, session=session), so that all is one "
            f"transaction; or commit first"
        )


def _holds_the_database(session: Any) -> bool:
    from sqlalchemy.exc import MissingGreenlet

    from semel.workflow.body_session import in_transaction

    try:
        return in_transaction(session.connection())
    except MissingGreenlet:  # an async session that has no connection yet
        return False


def _name(value: Any) -> str:
    return f"{type(value).__qualname__}.{value.name}" if isinstance(value, Enum) else repr(value)
