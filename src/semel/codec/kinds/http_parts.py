"""What HTTP libraries share: URLs without credentials, cookies as plain data, responses that refer to others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from http.cookiejar import Cookie, CookieJar
from typing import Any, Final

Data = dict[str, Any]

_USERINFO: Final = re.compile(r"(?<=://)[^/?#\s]*@")


class NotRead(Exception):
    """The body of a response was not read, and cannot be any more or not from here; the text says what to do."""


def without_userinfo(text: str) -> str:
    """The text with ``user:password@`` taken out of its URLs: either of the two may be a secret."""
    return _USERINFO.sub("", text) if "@" in text else text


def cookies_told(jar: CookieJar) -> list[Data]:
    """The cookies, as they were understood then: read again from the headers, some would have expired."""
    told = []
    for cookie in jar:
        data: Data = {name.lstrip("_"): value for name, value in vars(cookie).items()}
        # A cookie without a domain of its own is given the URL's, credentials included.
        data["domain"] = cookie.domain.rpartition("@")[2]
        told.append(data)
    return told


def fill_jar(jar: CookieJar, told: list[Data]) -> None:
    for cookie in told:
        jar.set_cookie(Cookie(**cookie))


def chain(response: Any, told: Callable[[Any], Data]) -> list[Data]:
    """A response and those of its history, flat, each with the numbers of its own history's.

    The histories of a chain of redirects hold one another, with requests even themselves; nested in a tree they would
    double at each step.
    """
    found: list[Any] = [response]
    numbers = {id(response): 0}
    data: list[Data] = []
    for held in found:
        for earlier in held.history:
            if id(earlier) not in numbers:
                numbers[id(earlier)] = len(found)
                found.append(earlier)
        data.append({**told(held), "history": [numbers[id(earlier)] for earlier in held.history]})
    return data


def unchain(data: Iterable[Data], made: Callable[[Data], Any]) -> Any:
    """The first response of a chain, with its history."""
    rows = list(data)
    responses = [made(row) for row in rows]
    for response, row in zip(responses, rows, strict=True):
        response.history = [responses[number] for number in row["history"]]
    return responses[0]
