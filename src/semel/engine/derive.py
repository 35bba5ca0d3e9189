"""Unrepeatable values of one execution (rule A5): derived from the run's secret and a name, never stored.

A later attempt asks for the same names and gets the same bytes. The number of a name tells repeated reads apart, so
that no two reads of one execution give equal ids.
"""

from __future__ import annotations

import hashlib
import itertools
from typing import TYPE_CHECKING

from semel.compiler import Origin

from .keys import subkey
from .moment import Watch, moment_of_flow

if TYPE_CHECKING:
    from .execution import Execution
    from .needs import Keys


def derived(seed: bytes, name: str, size: int) -> bytes:
    """``size`` bytes for a name, under a subkey of the seed that serves nothing else."""
    return hashlib.shake_256(subkey(seed, b"value") + name.encode("utf-8", "surrogatepass")).digest(size)


class Values:
    """What the reads of one execution are answered from. ``entry`` counts the re-entries of a retry."""

    def __init__(self, execution: Execution, keys: Keys, began_at: float, entry: int = 0) -> None:
        self._keys = keys
        self._began_at = began_at
        self._scope = f"{execution.body}\x1f{entry}\x1f"
        self._numbers: dict[str, itertools.count[int]] = {}
        self._watch = Watch(execution.condemned)

    def number(self, name: str) -> int:
        """How often this name was asked for before. A counter is set and advanced without a lock, each in one act."""
        return next(self._numbers.setdefault(name, itertools.count()))

    def derived(self, name: str, size: int) -> bytes:
        """The bytes of a name: the same at each attempt of this execution, others in any other."""
        return self._keys.of_value(self._scope + name, size)

    def moment(self) -> float:
        """The time that the calling flow has come to."""
        return max(moment_of_flow.get(), self._began_at)

    def watch(self, origin: Origin | None) -> float:
        """The same, for a read at this call.

        Raises NotAllowedHere: it was read there too often, and waits for ever.
        """
        moment = self.moment()
        if origin is not None:
            self._watch.read(origin, moment)
        return moment
