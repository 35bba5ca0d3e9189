"""The flows of one program, run live in one process and replayed in another: what each of them showed, both times."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import Case, case


@contextmanager
def closed_port() -> Iterator[str]:
    """A port that nobody listens at."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield str(bound.getsockname()[1])


@dataclass
class Compared:
    """By flow: what it showed live, and on a replay with the server stopped; and how often the server was asked."""

    run: Case
    live: dict[str, Any]
    replayed: dict[str, Any]
    asked_live: int
    asked: int


def compare(
    program: str,
    names: list[str],
    serving: AbstractContextManager[Any],
    args: Callable[[Any], tuple[Any, ...]],
    asked: Callable[[Any], int],
    folder: Path,
    **env: str,
) -> Compared:
    """Runs the flows of these names against the server, stops it, and runs them again."""
    with closed_port() as port:
        with serving as server:
            run = case(program, "flows", *args(server), names, folder=folder, CLOSED_PORT=port, **env)
            live = run.live()
            before = asked(server)
        replayed = run.replayed()
    return Compared(run, _by_name(live.shown), _by_name(replayed.shown), before, asked(server))


def _by_name(shown: list[Any]) -> dict[str, Any]:
    """What was shown, as ``[name, …]``, by name; without what addresses have worked out of themselves so far."""
    found: dict[str, Any] = {}
    for one in shown:
        items = one["items"]
        found.setdefault(str(items[0]), []).append(visible(items[1]))
    return found


def visible(shown: Any) -> Any:
    """Without the caches of yarl's addresses, which depend on what was asked of them."""
    if isinstance(shown, dict):
        return {name: visible(value) for name, value in shown.items() if name != "_cache"}
    return [visible(value) for value in shown] if isinstance(shown, list) else shown
