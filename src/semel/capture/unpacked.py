"""Compressed answers that unpack to more than a process should hold: found before a client unpacks them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from .exchange import MAX_BYTES, Answer, AnswerTooLarge

#: How much a recorded answer may unpack to, in bytes.
UNPACKED_LIMIT = 16 * MAX_BYTES

_STEP = 2**20  # bytes that are unpacked at a time
_KNOWN = frozenset({"gzip", "x-gzip", "deflate"})


def refuse_bomb(answer: Answer) -> None:
    """Raises AnswerTooLarge if a gzip or deflate body, or one of several such codings, unpacks to over the limit."""
    said = ",".join(value for name, value in answer.headers if name.lower() == "content-encoding")
    codings = [coding.strip().lower() for coding in said.split(",") if coding.strip()]
    if not answer.body or not codings or not _KNOWN.issuperset(codings):
        return
    pieces: Iterable[bytes] = [answer.body]
    for _ in codings:
        pieces = _unpacked(pieces)
    size = 0
    try:
        for piece in pieces:
            size += len(piece)
            if size > UNPACKED_LIMIT:
                raise AnswerTooLarge(
                    f"gave an answer of {len(answer.body):,} bytes that unpacks to more than "
                    f"{UNPACKED_LIMIT // 2**20} MiB"
                )
    except zlib.error:
        return  # the client says what is wrong with it


def _unpacked(packed: Iterable[bytes]) -> Iterator[bytes]:
    """What the pieces unpack to, in pieces: gzip of several members, zlib, or deflate without a header."""
    unpacker = None
    for piece in packed:
        rest = piece
        while rest:
            if unpacker is None or unpacker.eof:
                unpacker = _unpacker(rest)
            yield unpacker.decompress(rest, _STEP)
            rest = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail


def _unpacker(data: bytes) -> zlib._Decompress:
    """One for what begins like this: either header, or none."""
    with_header = data[:2] == b"\x1f\x8b" or (data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0)
    return zlib.decompressobj(zlib.MAX_WBITS | 32 if with_header else -zlib.MAX_WBITS)
