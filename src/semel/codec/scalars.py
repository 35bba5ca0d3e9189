"""The leaves: values of the standard library that MessagePack cannot say, each as one ext of text or bytes.

Text is chosen over packed numbers where both are quick, so that a record can be read by eye in the database.
"""

from __future__ import annotations

import datetime as dt
import pathlib
import re
import struct
import uuid
import zoneinfo
from collections.abc import Callable
from decimal import Decimal

import msgspec
from msgspec.msgpack import Ext

from . import format as f
from .errors import Misfit, NotEncodable
from .exchange import Exchange, read_exchange, write_exchange

_PATHS = (pathlib.PosixPath, pathlib.WindowsPath, pathlib.PurePosixPath, pathlib.PureWindowsPath)
_PATH_LETTERS: dict[type[pathlib.PurePath], str] = dict(zip(_PATHS, "PWpw", strict=True))
_PATHS_BY_LETTER = {letter: cls for cls, letter in _PATH_LETTERS.items()}

_DELTA = struct.Struct(">iII")
_ZONE_KEY = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*")


def is_clean(text: str) -> bool:
    """Whether MessagePack can say this text: it holds no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# ------------------------------------------------------------------------------------------------------------- writing


def write_int(value: int) -> object:
    if -(2**63) <= value < 2**64:
        return value
    return Ext(f.BIG_INT, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))


def write_str(value: str) -> object:
    return value if is_clean(value) else Ext(f.TEXT, value.encode("utf-8", "surrogatepass"))


def write_decimal(value: Decimal) -> Ext:
    # The case of the exponent's letter is a setting of the thread's decimal context.
    return Ext(f.DECIMAL, str(value).upper().encode("ascii"))


def write_uuid(value: uuid.UUID) -> Ext:
    return Ext(f.UUID, value.bytes)


def write_date(value: dt.date) -> Ext:
    return Ext(f.DATE, value.isoformat().encode("ascii"))


def write_timedelta(value: dt.timedelta) -> Ext:
    return Ext(f.TIMEDELTA, _DELTA.pack(value.days, value.seconds, value.microseconds))


def write_time(value: dt.time) -> Ext:
    return Ext(f.TIME, _moment(value))


def write_datetime(value: dt.datetime) -> Ext:
    return Ext(f.DATETIME, _moment(value))


def _moment(value: dt.datetime | dt.time) -> bytes:
    """``ISO text`` alone, or ``naive ISO text|fold|zone``.

    The zone is nothing, ``@key``, or ``=days,seconds,microseconds`` of the offset, and ``,name`` if it has one.
    """
    zone = value.tzinfo
    if not value.fold and (zone is None or _is_plain(zone)):
        return value.isoformat().encode("ascii")
    if zone is None:
        said = ""
    elif type(zone) is zoneinfo.ZoneInfo and zone.key is not None:
        said = f"@{zone.key}"
    elif type(zone) is dt.timezone:
        offset = zone.utcoffset(None)
        said = f"={offset.days},{offset.seconds},{offset.microseconds}"
        if _is_named(zone):
            said += f",{zone.tzname(None)}"
    else:
        raise NotEncodable(
            f"{type(value).__qualname__} with tzinfo {type(zone).__module__}.{type(zone).__qualname__}",
            "use datetime.timezone or zoneinfo.ZoneInfo(key), or .astimezone(datetime.UTC)",
        )
    naive = value.replace(tzinfo=None).isoformat()
    return f"{naive}|{value.fold}|{said}".encode("utf-8", "surrogatepass")


def _is_plain(zone: dt.tzinfo) -> bool:
    """Whether ISO text says all of the zone. Python does not read back an offset with a fraction of a second."""
    return type(zone) is dt.timezone and not zone.utcoffset(None).microseconds and not _is_named(zone)


def _is_named(zone: dt.timezone) -> bool:
    return zone.tzname(None) != dt.timezone(zone.utcoffset(None)).tzname(None)


def write_path(value: pathlib.PurePath) -> Ext:
    return Ext(f.PATH, f"{_PATH_LETTERS[type(value)]}{value}".encode("utf-8", "surrogatepass"))


def write_msgspec_unset(value: object) -> Ext:
    return Ext(f.MSGSPEC_UNSET, b"")


#: By exact type.
WRITERS: dict[type, Callable[..., object]] = {
    int: write_int,
    str: write_str,
    Decimal: write_decimal,
    uuid.UUID: write_uuid,
    dt.date: write_date,
    dt.time: write_time,
    dt.datetime: write_datetime,
    dt.timedelta: write_timedelta,
    **dict.fromkeys(_PATHS, write_path),
    type(msgspec.UNSET): write_msgspec_unset,
    Exchange: lambda value: Ext(f.EXCHANGE, write_exchange(value)),
}


# ------------------------------------------------------------------------------------------------------------- reading


def read_decimal(data: bytes) -> Decimal:
    text = data.decode("ascii")
    value = Decimal(text)
    # A context that traps nothing makes a NaN of text that is no number.
    if str(value).upper() != text:
        raise Misfit(f"{text!r} is no Decimal")
    return value


def read_time(data: bytes) -> dt.time:
    moment = _read_moment(dt.time.fromisoformat, data)
    assert isinstance(moment, dt.time)
    return moment


def read_datetime(data: bytes) -> dt.datetime:
    moment = _read_moment(dt.datetime.fromisoformat, data)
    assert isinstance(moment, dt.datetime)
    return moment


def _read_moment(parse: Callable[[str], dt.datetime | dt.time], data: bytes) -> dt.datetime | dt.time:
    text = data.decode("utf-8", "surrogatepass")
    if "|" not in text:
        return parse(text)
    naive, fold, said = text.split("|", 2)
    return parse(naive).replace(fold=int(fold), tzinfo=_read_zone(said))


def _read_zone(said: str) -> dt.tzinfo | None:
    if not said:
        return None
    kind, rest = said[0], said[1:]
    if kind == "@":
        # The key becomes a file name under the zone directories, or in the package tzdata where there are none.
        if not _ZONE_KEY.fullmatch(rest):
            raise Misfit(f"{rest!r} is no time zone")
        return zoneinfo.ZoneInfo(rest)
    days, seconds, microseconds, *name = rest.split(",", 3)
    return dt.timezone(dt.timedelta(int(days), int(seconds), int(microseconds)), *name)


def read_path(data: bytes) -> pathlib.PurePath:
    text = data.decode("utf-8", "surrogatepass")
    path: pathlib.PurePath = _PATHS_BY_LETTER[text[0]](text[1:])
    return path


def read_timedelta(data: bytes) -> dt.timedelta:
    return dt.timedelta(*_DELTA.unpack(data))


#: By ext code.
READERS: dict[int, Callable[[bytes], object]] = {
    f.BIG_INT: lambda data: int.from_bytes(data, "big", signed=True),
    f.TEXT: lambda data: data.decode("utf-8", "surrogatepass"),
    f.DECIMAL: read_decimal,
    f.UUID: lambda data: uuid.UUID(bytes=data),
    f.DATE: lambda data: dt.date.fromisoformat(data.decode("ascii")),
    f.TIME: read_time,
    f.DATETIME: read_datetime,
    f.TIMEDELTA: read_timedelta,
    f.PATH: read_path,
    f.MSGSPEC_UNSET: lambda data: msgspec.UNSET,
    f.EXCHANGE: read_exchange,
}
