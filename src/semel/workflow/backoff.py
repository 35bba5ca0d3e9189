"""``Backoff``: how often a step that raises is tried, and how long the run waits between attempts (rules R2, R10)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import blake2b
from typing import Any, Literal, Self, final

#: No wait is longer, whatever a policy grows to; a longer one that is written down is a mistake in the unit.
_LONGEST = timedelta(days=3653)

#: Two to this power, times the shortest delay, is more than the longest wait.
_DOUBLINGS = 64


@final
@dataclass(frozen=True, slots=True, repr=False)
class Backoff:
    """A policy, given to a step as ``retry=``::

        once("charge", lambda: charge(order), retry=Backoff.exponential(timedelta(seconds=2)).max_attempts(4))

    A policy never changes: each method gives a new one, and where one is called twice the last call counts.
    """

    _shape: Literal["exponential", "constant", "linear"]
    _base: timedelta
    attempts: int | None = None
    _cap: timedelta | None = None
    _jittered: bool = False

    def __post_init__(self) -> None:
        if self._shape not in ("exponential", "constant", "linear"):
            raise TypeError(
                "a Backoff is made by one of its three methods: write Backoff.exponential(timedelta(seconds=2)), "
                "Backoff.constant(…) or Backoff.linear(…)"
            )

    @classmethod
    def exponential(cls, base: timedelta) -> Self:
        """Waits that double: 2 s, 4 s, 8 s for a base of 2 s."""
        return cls("exponential", _length("Backoff.exponential", base))

    @classmethod
    def constant(cls, every: timedelta) -> Self:
        """Waits of one length."""
        return cls("constant", _length("Backoff.constant", every))

    @classmethod
    def linear(cls, step: timedelta) -> Self:
        """Waits that grow by one step: 2 s, 4 s, 6 s for a step of 2 s."""
        return cls("linear", _length("Backoff.linear", step))

    def max_attempts(self, n: int) -> Self:
        """At most ``n`` attempts in all, so ``n`` - 1 waits. A step's policy must say this (rule R2)."""
        if not isinstance(n, int) or isinstance(n, bool):
            raise TypeError(f"max_attempts counts attempts, and {n!r} is no int: write .max_attempts(4)")
        if n < 1:
            raise ValueError(
                f"max_attempts({n}) would never run the step: the first try counts too, so write .max_attempts(4) for "
                f"one try and three more"
            )
        return replace(self, attempts=n)

    def cap(self, d: timedelta) -> Self:
        """No wait is longer than this."""
        return replace(self, _cap=_length("cap", d))

    def jitter(self) -> Self:
        """Each wait is between half of its length and all of it, so that runs that failed together do not come back
        together. How long is the same whenever it is asked for one run, step and attempt."""
        return replace(self, _jittered=True)

    def delay(self, failed: int, key: bytes) -> float:
        """Seconds to wait after ``failed`` failures (1 or more); ``key`` is what jitter is derived from."""
        if failed < 1:
            raise ValueError(f"there is nothing to wait for after {failed} failures")
        seconds = self._base.total_seconds()
        if self._shape == "exponential":
            seconds *= 2.0 ** min(failed - 1, _DOUBLINGS)
        elif self._shape == "linear":
            seconds *= min(failed, 2**_DOUBLINGS)
        seconds = min(seconds, (self._cap or _LONGEST).total_seconds())
        if self._jittered:
            drawn = int.from_bytes(blake2b(key + b"%d" % failed, digest_size=8, person=b"semel backoff").digest())
            seconds *= 0.5 + drawn / 2**65
        return seconds

    def __repr__(self) -> str:
        attempts = "" if self.attempts is None else f".max_attempts({self.attempts})"
        cap = "" if self._cap is None else f".cap({_shown(self._cap)})"
        return f"Backoff.{self._shape}({_shown(self._base)}){attempts}{cap}{'.jitter()' if self._jittered else ''}"


def _length(method: str, given: Any) -> timedelta:
    if not isinstance(given, timedelta):
        seconds = given if isinstance(given, int | float) and not isinstance(given, bool) else 2
        raise TypeError(
            f"{method}(…) takes a timedelta, not {given!r}, which has no unit: write "
            f"{method}(timedelta(seconds={seconds}))"
        )
    if given <= timedelta(0):
        raise ValueError(
            f"{method}({_shown(given)}): a wait is longer than nothing, or the other side has no time to recover: "
            f"write {method}(timedelta(seconds=2))"
        )
    if given > _LONGEST:
        raise ValueError(
            f"{method}({_shown(given)}) is longer than ten years: look at the unit, and write "
            f"{method}(timedelta(seconds=2))"
        )
    return given


def _shown(length: timedelta) -> str:
    return repr(length).removeprefix("datetime.")
