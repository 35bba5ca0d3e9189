"""Which steps an owner has in flight, so that a takeover can say which calls may have been made without a record.

A mark on the disk before each step would be a second commit per step. But what a killed process has written to a
mapped file stays, since the pages are the system's; only a power cut loses them. So an owner's lock file is mapped, a
step that starts takes a slot of it, and the slot is free again when the step's record is durable. Who takes over from a
dead owner reads the slots. A file of an earlier boot, or one that was too small, tells nothing: then ``None`` is the
answer.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_MAGIC = b"semel-board-1\n"
_HEADER = 64  # bytes: the magic, the id of the boot, and whether the slots ever ran out
_OVERFLOW = _HEADER - 1
_SLOT = 512  # bytes: two of length, 32 of the run's uid, the path
_SLOTS = 8192
_SIZE = _HEADER + _SLOT * _SLOTS
_LENGTH = struct.Struct("<H")

Mark = int
#: Stands for a step without a slot.
NO_MARK: Mark = -1


class Board:
    """The slots of one owner of this process.

    Raises:
        OSError: there is no room for it.
    """

    def __init__(self, descriptor: int) -> None:
        try:
            _allocate(descriptor)
        except OSError:
            os.ftruncate(descriptor, 0)  # what an earlier board left there must not be taken for this one's
            raise
        self._map = mmap.mmap(descriptor, _SIZE)
        self._map[: len(_MAGIC)] = _MAGIC
        boot = _boot()
        self._map[len(_MAGIC) : len(_MAGIC) + len(boot)] = boot
        self._free = list(range(_HEADER + _SLOT * (_SLOTS - 1), _HEADER - 1, -_SLOT))

    def mark(self, run: str, path: str) -> Mark:
        """A step of this run starts."""
        try:
            slot = self._free.pop()
        except IndexError:
            self._map[_OVERFLOW] = 1
            return NO_MARK
        text = (run + path).encode("utf-8", "surrogatepass")[: _SLOT - 2]
        board = self._map
        board[slot + 2 : slot + 2 + len(text)] = text
        board[slot : slot + 2] = _LENGTH.pack(len(text))  # last: a slot that is being written is still a free one
        return slot

    def unmark(self, mark: Mark) -> None:
        """The step's record is durable, or its execution is over."""
        if mark != NO_MARK:
            self._map[mark : mark + 2] = b"\0\0"
            self._free.append(mark)

    def detach(self) -> None:
        """In a forked child: what it marks must not show on its parent's board."""
        self._map = mmap.mmap(-1, _SIZE)

    def close(self) -> None:
        self._map.close()


def _allocate(descriptor: int) -> None:
    """Gives the file its size, with room on the disk: writing to a hole that a full disk cannot fill is a SIGBUS."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, _SIZE)
        return
    os.lseek(descriptor, 0, os.SEEK_SET)
    missing = _SIZE
    while missing:
        missing -= os.write(descriptor, bytes(min(missing, 1 << 20)))


def marks_of(file: Path) -> list[tuple[str, str]] | None:
    """The runs and paths of the steps that a dead owner had in flight; None if that cannot be known."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    boot = _boot()
    known = data[: len(_MAGIC)] == _MAGIC and boot and data[len(_MAGIC) : len(_MAGIC) + len(boot)] == boot
    if not known or len(data) < _SIZE or data[_OVERFLOW]:
        return None
    return list(_read(data))


def _read(data: bytes) -> Iterator[tuple[str, str]]:
    for slot in range(_HEADER, _SIZE, _SLOT):
        (length,) = _LENGTH.unpack_from(data, slot)
        if length:
            text = data[slot + 2 : slot + 2 + length].decode("utf-8", "replace")
            yield text[:32], text[32:]


@cache
def _boot() -> bytes:
    """What differs after a restart of the machine; empty where the system does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()[:36]
    except OSError:
        return b""
