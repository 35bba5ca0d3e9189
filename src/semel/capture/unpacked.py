"""Compressed answers that unpack to more than a process should hold: found before a client unpacks them."""

from __future__ import annotations

import zlib

from .exchange import MAX_BYTES, Answer, AnswerTooLarge

#: How much a recorded answer may unpack to, in bytes.
UNPACKED_LIMIT = 16 * MAX_BYTES

_STEP = 2**20  # bytes that are unpacked at a time


def refuse_bomb(answer: Answer) -> None:
    """Raises AnswerTooLarge if a gzip or deflate body unpacks to more than the limit."""
    coding = next((value.lower() for name, value in answer.headers if name.lower() == "content-encoding"), "")
    if not answer.body or coding.strip() not in ("gzip", "x-gzip", "deflate"):
        return
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either header
    size, rest = 0, answer.body
    try:
        while rest and not unpacker.eof:
            size += len(unpacker.decompress(rest, _STEP))
            rest = unpacker.unconsumed_tail
            if size > UNPACKED_LIMIT:
                raise AnswerTooLarge(
                    f"gave an answer of {len(answer.body):,} bytes that unpacks to more than "
                    f"{UNPACKED_LIMIT // 2**20} MiB"
                )
    except zlib.error:
        return  # the client says what is wrong with it
