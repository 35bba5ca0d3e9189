"""What comes to a run from elsewhere: its events, and its children."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from semel.engine.derive import derived
from semel.engine.keys import FORMAT, own_seed
from semel.errors import NotAllowedHere
from semel.starting import new_run
from semel.store.interface import Claim, Event, NewRun, Run

if TYPE_CHECKING:
    from semel.app import App

_DEEPEST = 100  # generations of children: more are those of a workflow that starts itself


class RunOutside:
    """The events and children of one claimed run."""

    def __init__(self, app: App, claim: Claim) -> None:
        self._app = app
        self._run = claim.run

    def events(self) -> list[Event]:
        return self._app.store.events(self._run.uid)

    def children(self) -> Mapping[str, Run]:
        return {child.uid: child for child in self._app.store.children(self._run.uid)}

    def child(self, path: str, workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NewRun:
        run = self._run
        if run.depth >= _DEEPEST:
            raise NotAllowedHere(
                f"{path} would start a child {_DEEPEST} generations below the first run: a workflow that starts "
                f"itself, or two that start each other, would never end. Use a loop in one run, or app.again(…)"
            )
        new = new_run(self._app, workflow, args, kwargs, child=True)
        return NewRun(
            uid=derived(own_seed(run.seed), f"child\x1f{path}", 16).hex(),
            id=f"{run.id}/{path.partition('/')[2]}",
            workflow=new.workflow,
            args=new.args,
            seed=derived(own_seed(run.seed), f"child's seed\x1f{path}", 32),
            format=FORMAT,
            created_at=new.created_at,
            parent=run.uid,
            depth=run.depth + 1,
            deadline=new.deadline,
        )

    def failure(self, child: Run) -> BaseException:
        return self._app.failure_of(child)
