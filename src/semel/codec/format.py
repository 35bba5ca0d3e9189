"""The bytes of a record, format 1: one version byte, then one MessagePack value.

What MessagePack can say is said plainly: None, bool, int of 64 bits, float, str, bytes, list, and a dict whose keys are
all str. The rest carries a tag, a MessagePack ext code below. A *leaf* (Decimal, UUID, datetime, enum member, …) is one
ext whose data is its text or bytes. A *container* is an array whose first element is an empty ext, a mark: no value
encodes to a mark, so an array that starts with one cannot be mistaken for a list:

    tuple, set, frozenset   [mark, item, …]                  sets in the order of their items' bytes
    dict, OrderedDict       [mark, key, value, key, value, …]
    object                  [mark, "module:Qual.name", {field: value}]   and a fourth element, {…}, what else it holds
    failure                 [mark, {…}], see failures.py

Codes are never given another meaning. A new kind takes a new code; another layout takes another version byte, and
format 1 is read for ever.
"""

from __future__ import annotations

from typing import Final

from msgspec.msgpack import Ext

VERSION: Final = b"\x01"

#: The largest record that the engine accepts, in bytes (rule O23). Here it also bounds how far shared parts may unfold.
MAX_BYTES: Final = 16 * 2**20

#: How deep containers may be nested. Low enough that a record written near the top of a call stack can be read near the
#: bottom of one: each level costs two Python frames of the interpreter's 1,000.
MAX_DEPTH: Final = 100

#: The types that MessagePack says itself.
BARE: Final = frozenset({type(None), bool, int, float, str, bytes})

BIG_INT: Final = 1
TEXT: Final = 2
DECIMAL: Final = 3
UUID: Final = 4
DATE: Final = 5
TIME: Final = 6
DATETIME: Final = 7
TIMEDELTA: Final = 8
PATH: Final = 9
ENUM: Final = 10
FLAG: Final = 11
MSGSPEC_UNSET: Final = 12
#: An exception's class as a value: some of the standard library's exceptions have one among their arguments.
EXCEPTION_CLASS: Final = 13
#: An exchange with another system, see exchange.py: MessagePack in MessagePack.
EXCHANGE: Final = 14

TUPLE: Final = 32
SET: Final = 33
FROZENSET: Final = 34
PAIRS: Final = 35
ORDERED_PAIRS: Final = 36

DATACLASS: Final = 48
ATTRS: Final = 49
NAMEDTUPLE: Final = 50
PYDANTIC: Final = 51
STRUCT: Final = 52
PYDANTIC_URL: Final = 53
HTTP_RESPONSE: Final = 63

FAILURE: Final = 64
NO_VALUE: Final = 65


class Mark:
    """A mark as it is read. Unhashable, so that bytes which put one into a key or a set are refused."""

    __slots__ = ("code",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, code: int) -> None:
        self.code = code


_MARKS: Final = (
    *(TUPLE, SET, FROZENSET, PAIRS, ORDERED_PAIRS),
    *(DATACLASS, ATTRS, NAMEDTUPLE, PYDANTIC, STRUCT, PYDANTIC_URL, HTTP_RESPONSE),
    *(FAILURE, NO_VALUE),
)
READ_MARKS: Final = {code: Mark(code) for code in _MARKS}
WRITE_MARKS: Final = {code: Ext(code, b"") for code in _MARKS}

#: The value of a field that has none: an attribute that was declared and never set.
ABSENT: Final = READ_MARKS[NO_VALUE]
