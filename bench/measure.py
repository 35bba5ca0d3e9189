"""What a case gives: measures of semel, of the floor beside it, and the budget on their ratio."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Literal

Better = Literal["less", "more"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How much is measured. ``folder`` is on the disk that is measured; each case makes its own folders there."""

    folder: Path
    repeat: int
    quick: bool

    def size(self, full: int, quick: int) -> int:
        """A number of steps or runs."""
        return quick if self.quick else full


@dataclass(slots=True)
class Measure:
    """One line of the report.

    ``semel`` has one value per round; ``floor`` one before, between and after, so that a drift of the disk cancels out.
    ``limit`` is the budget: of the ratio where there is a floor, else of the value; ``better`` says which side is good.
    ``peers`` names the figures of other engines to show beside it.
    """

    case: str
    what: str
    unit: str
    semel: list[float]
    floor: list[float] = field(default_factory=list)
    limit: float | None = None
    better: Better = "less"
    note: str = ""
    peers: str | None = None

    @property
    def value(self) -> float:
        return median(self.semel)

    @property
    def floor_value(self) -> float | None:
        return median(self.floor) if self.floor else None

    @property
    def ratio(self) -> float | None:
        """The median over the rounds of semel's value to the floor's round it."""
        if not self.floor:
            return None
        around = [(before + after) / 2 for before, after in zip(self.floor, self.floor[1:], strict=False)]
        return median(mine / bare for mine, bare in zip(self.semel, around, strict=True))

    @property
    def held(self) -> bool | None:
        """Whether the budget holds; None if there is none."""
        if self.limit is None:
            return None
        judged = self.value if self.ratio is None else self.ratio
        return judged <= self.limit if self.better == "less" else judged >= self.limit


def rounds(
    repeat: int, floor: Callable[[], float], *semel: Callable[[], float]
) -> tuple[list[float], list[list[float]]]:
    """Floor, semel, floor, semel, …, floor: the floor's values, and those of each of ``semel``."""
    floors = [floor()]
    values: list[list[float]] = [[] for _ in semel]
    for _ in range(repeat):
        for measure, kept in zip(semel, values, strict=True):
            kept.append(measure())
        floors.append(floor())
    return floors, values
