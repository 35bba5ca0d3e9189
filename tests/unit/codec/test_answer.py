"""``Answer.of``: an answer by hand is one that a library could have got."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest

from semel import Answer


def test_a_body_is_given_in_one_of_three_ways() -> None:
    assert Answer.of(json=None).body == b"null"
    assert Answer.of(text="é").body == "é".encode()
    assert Answer.of(body=b"x", headers={"X-A": "1"}).headers == (("X-A", "1"), ("content-length", "1"))
    assert Answer.of(HTTPStatus.NOT_FOUND).status == 404


@pytest.mark.parametrize(
    "given",
    [
        {"status": 99},
        {"status": 600},
        {"status": "200"},
        {"status": True},
        {"json": {}, "text": ""},
        {"json": {}, "body": b"x"},
        {"text": "x", "body": b"x"},
        {"json": float("nan")},
        {"json": [float("inf")]},
        {"headers": {"x-a": 1}},
        {"headers": [(b"x-a", "1")]},
        {"headers": {"x-a": "1\r\nx-b: 2"}},
        {"headers": {"x-a\n": "1"}},
        {"headers": {"": "1"}},
    ],
    ids=str,
)
def test_what_no_library_could_have_got_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match="an Answer"):
        Answer.of(**given)
