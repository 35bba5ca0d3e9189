"""Random values made of given bytes: valid ids, and generators whose numbers are as well spread as the real ones.

A generator is seeded from the bytes and used once, so that what one call takes never moves what another call gets.
"""

from __future__ import annotations

import hashlib
import random
from uuid import UUID

_GREGORIAN = 0x01B21DD213814000  # the epoch of version 1, in units of 100 ns before the Unix one


def uuid4(drawn: bytes) -> UUID:
    """A version 4 UUID of 16 bytes."""
    return UUID(bytes=drawn[:16], version=4)


def uuid1(drawn: bytes, moment: float, node: int | None, clock_seq: int | None) -> UUID:
    """A version 1 UUID of that time, from 16 bytes; no machine's address is in it, as the multicast bit says."""
    ticks = int(moment * 10_000_000) + _GREGORIAN
    if node is not None and clock_seq is not None:
        ticks += int.from_bytes(drawn[8:11])  # up to 1.7 s: all else is given, and two must not be equal
    node = (int.from_bytes(drawn[:6]) | 1 << 40) if node is None else node
    clock_seq = int.from_bytes(drawn[6:8]) if clock_seq is None else clock_seq
    low, mid, high = ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 & 0xFFF
    return UUID(fields=(low, mid, high, clock_seq >> 8 & 0x3F, clock_seq & 0xFF, node & (1 << 48) - 1), version=1)


def uuid7(drawn: bytes, moment: float) -> UUID:
    """A version 7 UUID of that time, from 10 bytes."""
    rest = int.from_bytes(drawn[:10]) & (1 << 80) - 1
    value = (int(moment * 1000) & (1 << 48) - 1) << 80 | rest
    value = value & ~(0xF << 76) | 7 << 76
    return UUID(int=value & ~(0x3 << 62) | 0x2 << 62)


def generator(drawn: bytes) -> random.Random:
    """An ordinary generator, seeded with the bytes."""
    return random.Random(int.from_bytes(drawn))  # noqa: S311 (what stands for secrets is below)


class Drawn(random.SystemRandom):
    """In the place of ``random.SystemRandom``: a stream that cannot be continued from what was seen of it."""

    def __init__(self, drawn: bytes) -> None:
        self._key = drawn
        self._block = 0
        self._left = b""
        self.gauss_next = None

    def __repr__(self) -> str:
        return "<random.SystemRandom of a run>"

    def __reduce__(self) -> str:
        raise TypeError("a SystemRandom that a run has made cannot be pickled or copied")

    def randbytes(self, n: int) -> bytes:
        while len(self._left) < n:
            block = hashlib.shake_256(self._key + self._block.to_bytes(8))
            self._left += block.digest(max(272, n - len(self._left)))
            self._block += 1
        taken, self._left = self._left[:n], self._left[n:]
        return taken

    def random(self) -> float:
        return (int.from_bytes(self.randbytes(7)) >> 3) * 2**-53

    def getrandbits(self, k: int) -> int:
        if k < 0:
            raise ValueError("number of bits must be non-negative")
        size = (k + 7) // 8
        return int.from_bytes(self.randbytes(size)) >> (size * 8 - k)
