"""``asyncio.wait_for`` round a call: in time, and too late; the same on a replay."""

from __future__ import annotations

import pytest
from cells_server import CellsServer
from compared import Compared, compare

IN_TIME = ["by_httpx", "by_httpx2", "by_aiohttp", "by_openai"]
TOO_LATE = ["httpx_given_up", "httpx2_given_up", "aiohttp_given_up", "openai_given_up"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    names, folder = IN_TIME + TOO_LATE, tmp_path_factory.mktemp("timeouts")
    return compare("timeouts_flows", names, CellsServer(), lambda it: (it.url,), lambda it: len(it.requests), folder)


@pytest.mark.rule("A3")
@pytest.mark.parametrize("name", IN_TIME)
def test_a_call_that_is_waited_for_in_time_gives_its_record(compared: Compared, name: str) -> None:
    assert compared.replayed[name] == compared.live[name]
    assert compared.asked == compared.asked_live


@pytest.mark.parametrize("name", TOO_LATE)
def test_a_call_that_the_body_gave_up_is_given_up_again(compared: Compared, name: str) -> None:
    assert compared.replayed[name] == compared.live[name] == ["TimeoutError"]
