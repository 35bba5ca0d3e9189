"""A caller's session, in whose transaction an arm runs (rule W4).

The run's claim is held until that transaction has ended, however it ends: until then nobody else can know what became
of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semel.compiler import current
from semel.engine.commit import Together
from semel.errors import NotAllowedHere
from semel.store.interface import Claim

_KEPT = "semel_claims"  # in ``session.info``: the claims of its transaction, by the run's uid


class Joined:
    """A sync session, or an async one; ``ended`` is called with each claim when the transaction is over."""

    def __init__(self, session: Any, ended: Callable[[Claim], None]) -> None:
        from sqlalchemy.ext.asyncio import AsyncSession, async_scoped_session
        from sqlalchemy.orm import Session, scoped_session

        if isinstance(session, scoped_session | async_scoped_session):
            session = session()
        if not isinstance(session, Session | AsyncSession):
            raise TypeError(f"session= is a SQLAlchemy Session or AsyncSession, not {session!r}")
        self.is_async = isinstance(session, AsyncSession)
        self.session: Any = session
        self._ended = ended
        self._savepoint: Any = None
        self._ending = False

    def act(self, act: Callable[[Any], Any]) -> Together:
        """Calls ``act`` with the sync session."""

        async def on_loop() -> Any:
            return await self.session.run_sync(act) if self.is_async else act(self.session)

        return Together(lambda: act(self.session), on_loop)

    def sync_session(self) -> Any:
        """The session, for a body that is a plain function."""
        if self.is_async:
            return self.session.sync_session
        return self.session

    def async_session(self) -> Any:
        """The session, for an async body."""
        if not self.is_async:
            raise NotAllowedHere("self.async_session in an arm that was raised with a sync Session")
        return self.session

    # ---------------------------------------------------------------------------------------------------- the savepoint

    def begin(self, session: Any) -> Any:
        """Opens the savepoint that the arm runs in."""
        from sqlalchemy import event

        session.flush()
        self._savepoint = session.begin_nested()
        event.listen(session, "before_commit", self._refuse_commit)
        event.listen(session, "before_flush", _refuse_write_in_a_step)
        return self._savepoint

    def end(self, savepoint: Any, *, commit: bool) -> None:
        """Releases the savepoint, or rolls back to it."""
        from sqlalchemy import event

        session = self.sync_session()
        self._ending = True
        try:
            if savepoint.is_active:
                savepoint.commit() if commit else savepoint.rollback()
        finally:
            self._ending = False
            self._savepoint = None
            event.remove(session, "before_commit", self._refuse_commit)
            event.remove(session, "before_flush", _refuse_write_in_a_step)

    def _refuse_commit(self, session: Any) -> None:
        if not self._ending and session.get_nested_transaction() is self._savepoint:
            raise NotAllowedHere(
                "commit() in an arm: it runs in its caller's transaction, and only the caller commits that. Leave the "
                "commit out"
            )

    # -------------------------------------------------------------------------------------------------------- the claim

    def claim_of(self, run: str) -> Claim | None:
        """The claim that this transaction has on the run already."""
        kept: dict[str, Claim] = self.sync_session().info.get(_KEPT, {})
        return kept.get(run)

    def keep(self, session: Any, claim: Claim) -> None:
        """Holds the claim until the transaction is over."""
        from sqlalchemy import event

        if _KEPT not in session.info:
            session.info[_KEPT] = {}
            event.listen(session, "after_transaction_end", self._after_end)
        session.info[_KEPT][claim.run.uid] = claim

    def _after_end(self, session: Any, transaction: Any) -> None:
        if transaction.parent is None:
            kept: dict[str, Claim] = session.info[_KEPT]
            while kept:
                self._ended(kept.popitem()[1])


def _refuse_write_in_a_step(session: Any, *_: Any) -> None:
    path = current.get()
    if path is None or not path.in_step or path.execution.over:
        return
    if session.new or session.dirty or session.deleted:
        raise NotAllowedHere(
            f"a write through the session inside a step (under {path.text()}): it is rolled back if the body fails, "
            f"but the step's record stays, so no later attempt would write it again. Write it in the body, after the "
            f"step"
        )
