"""What compiled code costs more than the user's own: the same function called outside of a run, and as one."""

from __future__ import annotations

from collections.abc import Iterator

from . import programs
from .measure import Measure, Settings
from .scene import new_folder

_LIMITS = {"a loop's pass": 35.0, "a helper call": 600.0, "a third-party call": 3_000.0}  # nanoseconds, DESIGN 3


def case(settings: Settings) -> Iterator[Measure]:
    count = settings.size(20_000, 200)
    bare: list[dict[str, float]] = []
    compiled: list[dict[str, float]] = []
    with new_folder(settings) as folder:
        app = programs.new_app(folder)
        with app.worker():
            for _ in range(settings.repeat):
                bare.append(programs.prices(count))
                compiled.append(app.start(programs.prices, count).result())
        app.close()
    for what, limit in _LIMITS.items():
        more = min(one[what] for one in compiled) - min(one[what] for one in bare)
        yield Measure("twin", f"{what} in a run, more than outside of one", "ns", [more], limit)
