"""boto3: a redirect to another region, a crash between two tries, and answers that are no good."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from aws_server import AwsServer
from cells_server import CellsServer
from compared import Compared, compare
from harness import case

FLOWS = ["moved", "objects_broken_off", "an_object_longer_than_it_says", "messages_broken_off", "refused"]


@pytest.fixture(scope="module")
def credentials() -> Iterator[AwsServer]:
    """What it gives lasts so short that each call refreshes it, on a replay too."""
    with AwsServer() as server:
        server.credentials_last = timedelta(minutes=5)
        yield server


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory, credentials: AwsServer) -> Compared:
    folder, environment = tmp_path_factory.mktemp("boto3"), credentials.environment()
    server = CellsServer()
    return compare(
        "boto3_cells_flows", FLOWS, server, lambda it: (it.url,), lambda it: len(it.requests), folder, **environment
    )


@pytest.mark.rule("A3")
@pytest.mark.parametrize("name", FLOWS)
def test_a_replay_shows_what_the_live_call_showed(compared: Compared, name: str) -> None:
    assert compared.replayed[name] == compared.live[name]
    assert compared.asked == compared.asked_live


@pytest.mark.rule("A8")
def test_a_redirect_to_another_region_is_a_part_of_the_call(compared: Compared) -> None:
    parts = [path.rpartition("#auto:")[2] for path in compared.run.steps() if "/moved#" in path]
    assert parts == ["botocore.S3.get_object", "botocore.S3.get_object~1"]


@pytest.mark.rule("A2")
@pytest.mark.parametrize(("crash", "before"), [("step.before:2", 1), ("step.before:3", 2)])
def test_after_a_crash_between_two_tries_only_the_rest_is_asked_for(
    tmp_path: Path, credentials: AwsServer, crash: str, before: int
) -> None:
    with AwsServer() as aws:
        aws.failing["SendMessage"] = 2
        run = case("boto3_program", "retried", aws.url, folder=tmp_path, **credentials.environment())
        assert run.attempt(crash).killed
        assert len(aws.asked) == before
        assert run.attempt().fault is None
        assert aws.asked == ["SendMessage"] * 3


@pytest.mark.rule("O23")
@pytest.mark.parametrize(
    ("bucket", "told"),
    [("endless", "more than 16 MiB"), ("large", "more than 16 MiB"), ("bomb", "unpacks to more than 256 MiB")],
)
def test_what_is_too_much_faults_the_run_and_botocore_does_not_ask_again(
    tmp_path: Path, credentials: AwsServer, bucket: str, told: str
) -> None:
    with CellsServer() as server:
        run = case("boto3_cells_flows", "much", server.url, bucket, folder=tmp_path, **credentials.environment())
        fault = str(run.attempt().fault)
        assert "ResultNotRecordable" in fault
        assert told in fault
        assert "much/start@1#auto:botocore.S3.get_object" in fault
        assert len(server.requests) == 1
