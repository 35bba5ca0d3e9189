"""Compressed bombs, of each kind that a client would unpack."""

from __future__ import annotations

import gzip
import zlib

import pytest

from semel.capture.exchange import Answer, AnswerTooLarge
from semel.capture.unpacked import refuse_bomb

HUGE = b"\0" * (300 * 2**20)


def raw(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def answer(body: bytes, coding: str) -> Answer:
    return Answer(200, (("Content-Encoding", coding),), body)


@pytest.fixture(scope="module")
def packed() -> bytes:
    return gzip.compress(HUGE)


@pytest.mark.parametrize("kind", ["gzip", "second member", "twice", "zlib", "raw"])
def test_a_bomb_is_refused_before_it_is_unpacked(kind: str, packed: bytes) -> None:
    body, coding = {
        "gzip": lambda: (packed, "gzip"),
        "second member": lambda: (gzip.compress(b"small") + packed, "gzip"),
        "twice": lambda: (gzip.compress(packed), "gzip, gzip"),
        "zlib": lambda: (zlib.compress(HUGE), "deflate"),
        "raw": lambda: (raw(HUGE), "deflate"),
    }[kind]()
    with pytest.raises(AnswerTooLarge, match="unpacks to more than 256 MiB"):
        refuse_bomb(answer(body, coding))


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "gzip, br", ""])
def test_what_is_small_damaged_or_unknown_is_left_to_the_client(coding: str) -> None:
    for body in (gzip.compress(b"a"), zlib.compress(b"a"), raw(b"a"), b"\x1f\x8bnothing", b"x", b""):
        refuse_bomb(answer(body, coding))
