"""boto3: S3, SQS and DynamoDB, with credentials that must be refreshed in one attempt and not in the other."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from aws_server import AwsServer
from harness import Case, case
from seen import seen

PROGRAM = "boto3_program"

SECRETS = (b"the-secret-key", b"the-session-token", b"AKID")


@pytest.fixture
def credentials() -> Iterator[AwsServer]:
    """The container's endpoint, which stays up: a replay may need credentials to sign what it then does not send."""
    with AwsServer() as server:
        yield server


def run_of(aws: AwsServer, credentials: AwsServer, workflow: str, *args: str, folder: Path) -> Case:
    aws.objects |= {"shop/lines": b"one\ntwo\n", "shop/big": bytes(range(256)) * 64}
    aws.objects |= {f"shop/key{number}": b"x" for number in range(5)}
    return case(PROGRAM, workflow, aws.url, *args, folder=folder, **credentials.environment())


def assert_replayed(run: Case, aws: AwsServer, credentials: AwsServer, parts: int) -> None:
    credentials.credentials_last = timedelta(minutes=5)  # so little that each call refreshes them
    with aws:
        live = run.live()
    refreshed, asked = len(credentials.asked), list(aws.asked)
    assert len(run.steps()) == parts
    assert refreshed > 1
    credentials.credentials_last = timedelta(hours=6)
    replayed = run.replayed()
    assert seen(replayed) == seen(live)
    assert len(credentials.asked) == refreshed + 1
    assert aws.asked == asked


@pytest.mark.rule("A3")
@pytest.mark.parametrize(
    ("workflow", "parts"),
    [
        *(("put_and_get", 3), ("streamed", 1), ("missing", 2), ("pages", 4), ("queue", 3), ("table", 7)),
        *(("resources", 5), ("waited", 3), ("twenty_at_once", 20)),
    ],
)
def test_a_replay_shows_what_the_live_call_showed(
    workflow: str, parts: int, credentials: AwsServer, tmp_path: Path
) -> None:
    aws = AwsServer()
    assert_replayed(run_of(aws, credentials, workflow, folder=tmp_path), aws, credentials, parts)


@pytest.mark.rule("A8")
def test_an_operation_is_named_after_service_and_operation(credentials: AwsServer, tmp_path: Path) -> None:
    with AwsServer() as aws:
        run = run_of(aws, credentials, "put_and_get", folder=tmp_path)
        run.live()
    operations = [path.removeprefix("put_and_get/start@1#auto:") for path in run.steps()]
    assert operations == ["botocore.S3.put_object", "botocore.S3.get_object", "botocore.S3.head_object"]


def test_the_tries_of_botocore_are_parts_of_one_call(credentials: AwsServer, tmp_path: Path) -> None:
    aws = AwsServer()
    aws.failing["SendMessage"] = 2
    assert_replayed(run_of(aws, credentials, "retried", folder=tmp_path), aws, credentials, 3)


def test_a_connection_that_fails_raises_botocore_s_own_error(credentials: AwsServer, tmp_path: Path) -> None:
    aws, nobody = AwsServer(), AwsServer()
    with nobody:
        closed = nobody.url
    assert_replayed(run_of(aws, credentials, "fails", closed, folder=tmp_path), aws, credentials, 2)


@pytest.mark.rule("O20")
def test_parts_that_are_uploaded_on_threads_belong_to_the_call(credentials: AwsServer, tmp_path: Path) -> None:
    file = tmp_path / "big.bin"
    file.write_bytes(bytes(12 * 2**20))
    aws = AwsServer()
    assert_replayed(run_of(aws, credentials, "uploaded_in_parts", str(file), folder=tmp_path), aws, credentials, 5)
    assert sorted(aws.asked[1:4]) == ["UploadPart 1", "UploadPart 2", "UploadPart 3"]
    assert aws.objects["shop/big"] == file.read_bytes()


@pytest.mark.rule("O20")
def test_pieces_that_are_downloaded_on_threads_keep_their_places(credentials: AwsServer, tmp_path: Path) -> None:
    aws, file = AwsServer(), tmp_path / "got.bin"
    assert_replayed(run_of(aws, credentials, "downloaded_in_parts", str(file), folder=tmp_path), aws, credentials, 9)
    assert file.read_bytes() == aws.objects["shop/big"]


@pytest.mark.rule("A2")
@pytest.mark.parametrize("crash", ["step.recorded:1", "step.recorded:2", "step.recorded:4"])
def test_after_a_crash_only_the_parts_that_are_missing_are_uploaded(
    crash: str, credentials: AwsServer, tmp_path: Path
) -> None:
    file = tmp_path / "big.bin"
    file.write_bytes(bytes(12 * 2**20))
    with AwsServer() as aws:
        run = run_of(aws, credentials, "uploaded_in_order", str(file), folder=tmp_path)
        assert run.attempt(crash).killed
        assert run.attempt().fault is None
        wanted = ["CreateMultipartUpload", "UploadPart 1", "UploadPart 2", "UploadPart 3", "CompleteMultipartUpload"]
        assert aws.asked == wanted


def test_no_credential_is_stored(credentials: AwsServer, tmp_path: Path) -> None:
    with AwsServer() as aws:
        run_of(aws, credentials, "put_and_get", folder=tmp_path).live()
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    assert not [secret for secret in SECRETS if secret in stored]


def test_the_database_alone_is_enough(credentials: AwsServer, tmp_path: Path) -> None:
    """Another folder, another process: nothing else is left of the first attempt."""
    first, moved = tmp_path / "first", tmp_path / "moved"
    first.mkdir()
    with AwsServer() as aws:
        run = run_of(aws, credentials, "table", folder=first)
        live = run.live()
    moved.mkdir()
    for file in first.glob("capture*"):
        shutil.copy(file, moved)
    again = Case(run.program, run.workflow, run.args, moved, run.env)
    assert seen(again.replayed()) == seen(live)
