"""What of semel is reached in a run through code that is not compiled has no path, and is refused."""

from __future__ import annotations

from semel.compiler import current, explain_uncompiled
from semel.errors import NotCompiled


def refuse_uncompiled(what: str) -> None:
    """Raises where a run is there; outside of one it does nothing.

    Raises:
        NotCompiled: it was reached in a run.
    """
    path = current.get()
    if path is not None and not path.execution.over:
        error = NotCompiled(
            f"{what} was reached in a run, but not through code that semel compiles, so it has no path that a later "
            f"attempt could find. {explain_uncompiled()}"
        )
        raise path.execution.condemned(error)  # type: ignore[attr-defined]
