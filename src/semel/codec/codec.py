"""The codec: values and failures to bytes and back, over the types of one app."""

from __future__ import annotations

from typing import Any

from msgspec.msgpack import decode as read_msgpack

from semel.errors import RecordUnreadable

from .errors import Misfit, NotEncodable
from .failures import FailureReader, FailureWriter, verify
from .format import VERSION
from .reader import Reader
from .registry import TypeRegistry
from .types import Types
from .writer import ATOMS, ENCODER, ONLY_STR, Writer

#: What msgspec raises for a lone surrogate and for an int of more than 64 bits.
NOT_PLAIN = (UnicodeEncodeError, OverflowError)


class Codec:
    """Encodes and decodes for one app. Safe to use from any thread.

    What comes back is equal and of the same types (rule O22), but two references to one list come back as two equal
    lists: a record is a tree.
    """

    def __init__(self, registry: TypeRegistry) -> None:
        self._types = Types(registry)

    def encode(self, value: object, root: str = "result") -> bytes:
        """The bytes of a value; ``root`` is what an error calls it.

        Raises:
            NotEncodable: something in it cannot be recorded.
        """
        return self._written(value, root, Writer.value)

    def encode_flat(self, value: object) -> tuple[bytes, object] | None:
        """The bytes of a flat value and what they will come back as; None of any other value.

        That is a None, bool, int, float, str or bytes, or a dict (by str) or list of these: what most steps return. Its
        copy is equal to what ``decode`` would give, at a fifth of the price.
        """
        cls = type(value)
        seen: Any = value
        if cls is dict:
            seen = seen.copy()
            if not (ONLY_STR.issuperset(map(type, seen)) and ATOMS.issuperset(map(type, seen.values()))):
                return None
        elif cls is list:
            seen = seen.copy()
            if not ATOMS.issuperset(map(type, seen)):
                return None
        elif cls not in ATOMS:
            return None
        try:
            return VERSION + ENCODER.encode(seen), seen
        except NOT_PLAIN:
            return None

    def decode(self, data: bytes) -> Any:
        """The value of these bytes. Nothing is imported, unpickled or constructed by its own code.

        Raises:
            RecordUnreadable: they are not a value's, or no longer fit the app's types (rule D4).
        """
        reader = Reader(self._types)
        return self._read(data, reader, reader.whole)

    def encode_failure(self, exc: BaseException) -> bytes:
        """The bytes of an exception, with its traceback as text.

        Raises:
            NotEncodable: it would not come back with the same class, arguments and text (rule O24).
        """
        try:
            data = self._written(exc, "failure", FailureWriter(self._types.registry).failure)
            verify(exc, self.decode_failure(data), self.encode)
        except (RecordUnreadable, Misfit) as error:
            raise NotEncodable(f"{type(exc).__module__}.{type(exc).__qualname__}", str(error), root="failure") from None
        return data

    def decode_failure(self, data: bytes) -> BaseException:
        """The exception of these bytes, ready to be raised.

        Raises:
            RecordUnreadable: as ``decode``.
        """
        reader = Reader(self._types)
        failure: BaseException = self._read(data, reader, FailureReader(reader).failure)
        return failure

    def _written(self, value: Any, root: str, write: Any) -> bytes:
        try:
            try:
                return VERSION + ENCODER.encode(write(Writer(self._types), value, 0))
            except NOT_PLAIN:
                return VERSION + ENCODER.encode(write(Writer(self._types, careful=True), value, 0))
        except NotEncodable as trouble:
            trouble.settle(root)
            raise
        except RecursionError:
            raise NotEncodable(
                type(value).__qualname__, "it is nested too deep for what is left of the call stack", root=root
            ) from None

    def _read(self, data: bytes, reader: Reader, read: Any) -> Any:
        if not data.startswith(VERSION):
            raise RecordUnreadable(
                f"its format is {data[:1].hex() or 'missing'}, and this semel reads 01; "
                "was it written by a newer semel, or by something else?"
            )
        try:
            tree = read_msgpack(data[1:], ext_hook=reader.ext)
            return read(tree)
        except RecordUnreadable:
            raise
        except RecursionError:
            raise RecordUnreadable("it is nested too deep; it is damaged, or not one of semel's records") from None
        except MemoryError:
            raise
        except Exception as error:
            raise RecordUnreadable(f"it is damaged, or not one of semel's records: {error}") from error
