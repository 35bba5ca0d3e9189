"""Idempotency keys: derived, never stored, and opaque (rules O9, O10).

A run's keys come from its secret seed and the step's path, so that each attempt presents the same one. A scoped key
comes from the database's key namespace, the label and the scope alone, so that any run presents the same one.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TypeAlias
from uuid import UUID

from semel.errors import InvalidScope

Scope: TypeAlias = "str | int | UUID | tuple[Scope, ...]"

#: The path format and key derivation that new runs start with; a run keeps its own (rule V6).
FORMAT = 1

_SEED = 32  # bytes
_DIGEST = 20  # bytes: 160 bits, as 40 hex digits
_ATTEMPT = re.compile(r"~\d+(?=[/\[#]|$)")


def forked_seed(seed: bytes, fresh: bytes) -> bytes:
    """The seed of a fork: its own half is for keys and children; what it reads is what the first run has read."""
    return fresh + seed[-_SEED:]


def own_seed(seed: bytes) -> bytes:
    """What is no other run's, whether or not it is a fork."""
    return seed[:_SEED]


def subkey(seed: bytes, purpose: bytes) -> bytes:
    """A key of 32 bytes that is made of the run's seed and serves one purpose only."""
    return hashlib.blake2b(purpose, key=seed[-_SEED:], digest_size=32).digest()


def run_key(seed: bytes, path: str) -> str:
    """The key of one step of one run: ``path`` without the number of its attempt, under a subkey of the seed."""
    stable = _ATTEMPT.sub("", path) if "~" in path else path
    return hashlib.blake2b(
        stable.encode("utf-8", "surrogatepass"), key=subkey(own_seed(seed), b"idempotency"), digest_size=_DIGEST
    ).hexdigest()


def request_digest(seed: bytes, data: bytes) -> bytes:
    """What is kept of a request: 8 bytes, under a subkey of the seed, so that its text cannot be guessed from them."""
    return hashlib.blake2b(data, key=subkey(seed, b"request"), digest_size=8).digest()


def scoped_key(namespace: bytes, label: str, scope: object) -> str:
    """The key of a label for a scope, the same in every run.

    Raises:
        InvalidScope: ``scope`` is not a str, int, UUID or a tuple of these.
    """
    text = json.dumps([label, _tagged(scope, label)], ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("ascii"), key=namespace, digest_size=_DIGEST).hexdigest()


def _tagged(scope: object, label: str) -> list[object]:
    """The scope with its types, so that ``1`` and ``"1"`` differ."""
    kind = type(scope)
    if kind is str:
        return ["s", scope]
    if kind is int:
        return ["i", str(scope)]
    if isinstance(scope, UUID):
        return ["u", scope.hex]
    if kind is tuple and isinstance(scope, tuple):
        return ["t", *(_tagged(part, label) for part in scope)]
    raise InvalidScope(
        f"the scope of once({label!r}, …) is a {kind.__qualname__}; a scope says what the work is identified by and "
        f"must be a str, an int, a UUID or a tuple of these, for example once({label!r}, order.id, lambda key: …)"
    )
