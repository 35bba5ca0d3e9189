"""What a case gives: measures of semel, of the floor beside it, and the budget on their ratio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
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


@dataclass(frozen=True, slots=True)
class Beside:
    """Values of semel and of the floor, taken in turn; ``ratios`` are semel's to the floor's before and after it."""

    semel: list[float]
    floor: list[float]
    ratios: list[float]

    @classmethod
    def of(cls, semel: list[float], floor: list[float]) -> Beside:
        """Of one series, floor, semel, floor, semel, …, floor."""
        around = [(before + after) / 2 for before, after in pairwise(floor)]
        return cls(semel, floor, [mine / bare for mine, bare in zip(semel, around, strict=True)])

    @classmethod
    def joined(cls, parts: Sequence[Beside]) -> Beside:
        """Several series."""
        return cls(
            [value for part in parts for value in part.semel],
            [value for part in parts for value in part.floor],
            [value for part in parts for value in part.ratios],
        )


@dataclass(slots=True)
class Measure:
    """One line of the report.

    ``limit`` is the budget: of the ratio where there is a floor, else of the value; ``better`` says which side is good.
    ``peers`` names the figures of other engines to show beside it.
    """

    case: str
    what: str
    unit: str
    taken: Beside | list[float]
    limit: float | None = None
    better: Better = "less"
    note: str = ""
    peers: str | None = None

    @property
    def semel(self) -> list[float]:
        return self.taken.semel if isinstance(self.taken, Beside) else self.taken

    @property
    def floor(self) -> list[float]:
        return self.taken.floor if isinstance(self.taken, Beside) else []

    @property
    def value(self) -> float | None:
        return median(self.semel) if self.semel else None

    @property
    def floor_value(self) -> float | None:
        return median(self.floor) if self.floor else None

    @property
    def ratio(self) -> float | None:
        """The median of the ratios, which a drift of the disk leaves alone."""
        return median(self.taken.ratios) if isinstance(self.taken, Beside) and self.taken.ratios else None

    @property
    def held(self) -> bool | None:
        """Whether the budget holds; None if there is none, or nothing was measured."""
        judged = self.value if self.ratio is None else self.ratio
        if self.limit is None or judged is None:
            return None
        return judged <= self.limit if self.better == "less" else judged >= self.limit


def rounds(repeat: int, floor: Callable[[], float], *semel: Callable[[], float]) -> list[Beside]:
    """Floor, semel, floor, semel, …, floor, for each of ``semel``, which have their turns one after the other."""
    floors = [floor()]
    values: list[list[float]] = [[] for _ in semel]
    for _ in range(repeat):
        for measure, kept in zip(semel, values, strict=True):
            kept.append(measure())
        floors.append(floor())
    return [Beside.of(kept, floors) for kept in values]
