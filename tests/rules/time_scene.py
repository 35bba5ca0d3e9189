"""A virtual clock, and the driving of an app's runs in the test's own thread, until all of them wait or have ended."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import Any

from semel import App
from semel.engine.waiting import on_loop, on_thread
from semel.worker.attempts import Attempts
from semel.worker.lease import Lease

START = 1_750_000_000.0


class Scene:
    """An app with its runs, and the time that they live in."""

    def __init__(self, new_app: Any) -> None:
        self.time = START
        self.app: App = new_app(now=lambda: self.time)
        self._lease: Lease | None = None

    def start(self, workflow: Any, *args: Any, id: str = "one") -> Any:
        self.app.workflow(workflow)
        run = self.app.start(workflow, *args, id=id)
        self.settle()
        return run

    def again(self, run: Any, delta: timedelta = timedelta(0)) -> Any:
        """Moves the clock, and gives the run as it is when all that is due has run."""
        self.time += delta.total_seconds()
        self.settle()
        return run

    def settle(self) -> int:
        """Drives what can be claimed; how many deliveries that took."""
        store = self.app.store
        self.app.check()
        lease = Lease(store, 60.0, lambda: None)
        lease._register()
        deliveries = 0
        try:
            while True:
                store.wake_due(self.time, 1000).wait()
                names = list(self.app.workflows)
                claims = store.claim(lease.owner, names, 1, time.time(), self.time).wait()
                if not claims:
                    return deliveries
                (claim,) = claims
                workflow = self.app.workflows[claim.run.workflow]
                attempts = Attempts(self.app, workflow, claim, lease)
                pause: float | None = 0.0
                while pause is not None:
                    delivery = attempts.prepare()
                    if delivery is None:
                        break
                    execution, steps = delivery
                    deliveries += 1
                    execution.marks.open()
                    ended = asyncio.run(on_loop(steps)) if workflow.is_async else on_thread(steps)
                    execution.marks.close()
                    pause = attempts.after(ended)
        finally:
            lease.stop()
