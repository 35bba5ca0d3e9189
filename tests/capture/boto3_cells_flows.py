"""More of what programs do with boto3; each function gives the objects that it got.

The server is told by the path of the address, or by the name of the bucket, what to answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from deep import show

from semel import App

app = App("capture", database=os.environ["DATABASE"])


@app.workflow
def flows(url: str, names: list[str]) -> None:
    for name in names:
        show([name, globals()[name](url)])


def client(service: str, url: str) -> Any:
    config = Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}, read_timeout=10)
    return boto3.client(service, endpoint_url=url, config=config)


def caught(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (ClientError, BotoCoreError, HTTPClientError) as error:
        return type(error).__name__, str(error), error.args, getattr(error, "response", None)


def moved(url: str) -> Any:
    """The bucket is in another region than the client: botocore signs for that one, and asks again."""
    got = client("s3", url).get_object(Bucket="moved-bucket", Key="k")
    return got.pop("Body").read(), got


def objects_broken_off(url: str) -> Any:
    s3, seen = client("s3", url), []
    for bucket in ("half", "half-chunked", "reset"):
        body = s3.get_object(Bucket=bucket, Key="k")["Body"]
        seen.append([body.read(10), caught(body.read)])
    return seen


def an_object_longer_than_it_says(url: str) -> Any:
    return client("s3", url).get_object(Bucket="longer", Key="k")["Body"].read()


def messages_broken_off(url: str) -> Any:
    seen = []
    for name in ("half", "half-chunked", "reset", "nothing", "longer"):
        sqs = client("sqs", f"{url}/{name}")
        seen.append(caught(lambda sqs=sqs: sqs.send_message(QueueUrl=f"{url}/{name}", MessageBody="m")))  # type: ignore[misc]
    return seen


def refused(url: str) -> Any:
    nobody = f"http://127.0.0.1:{os.environ['CLOSED_PORT']}"
    s3, table = client("s3", nobody), client("dynamodb", nobody)
    item = {"id": {"S": "a"}}
    return [
        caught(lambda: s3.put_object(Bucket="shop", Key="k", Body=b"x")),
        caught(lambda: table.put_item(TableName="t", Item=item)),
    ]


@app.workflow
def much(url: str, bucket: str) -> str:
    config = Config(s3={"addressing_style": "path"})
    return str(boto3.client("s3", endpoint_url=url, config=config).get_object(Bucket=bucket, Key="k"))
