"""What programs do with boto3, each as a workflow that is given a server's address.

Nothing in it knows that it is recorded. Credentials come from the container's endpoint that the environment names, as
on ECS and EKS.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
from boto3.dynamodb.conditions import Key
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from deep import show

from semel import App

app = App("capture", database=os.environ["DATABASE"])

KIB = 1024


def client(service: str, url: str, **config: Any) -> Any:
    return boto3.client(service, endpoint_url=url, config=Config(s3={"addressing_style": "path"}, **config))


def caught(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (ClientError, BotoCoreError) as error:
        return error


@app.workflow
def put_and_get(url: str) -> str:
    s3 = client("s3", url)
    show(s3.put_object(Bucket="shop", Key="a b/ü.txt", Body=b"text", Metadata={"by": "ann"}))
    got = s3.get_object(Bucket="shop", Key="a b/ü.txt")
    body = got.pop("Body")
    show(got, type(body).__name__, body.read(2), body.tell(), body.read(), body.read())
    show(s3.head_object(Bucket="shop", Key="a b/ü.txt"))
    return str(got["ETag"])


@app.workflow
def streamed(url: str) -> None:
    body = client("s3", url).get_object(Bucket="shop", Key="lines")["Body"]
    show(list(body.iter_lines()))


@app.workflow
def missing(url: str) -> None:
    s3 = client("s3", url)
    try:
        s3.get_object(Bucket="shop", Key="nothing")
    except s3.exceptions.NoSuchKey as error:
        show(error, error.response, error.operation_name, type(error).__mro__[1].__name__)
    show(caught(lambda: s3.head_object(Bucket="shop", Key="nothing")))


@app.workflow
def pages(url: str) -> list[str]:
    keys = []
    for page in (
        client("s3", url).get_paginator("list_objects_v2").paginate(Bucket="shop", PaginationConfig={"PageSize": 2})
    ):
        show(page)
        keys += [found["Key"] for found in page["Contents"]]
    return keys


@app.workflow
def uploaded_in_parts(url: str, file: str) -> None:
    config = TransferConfig(multipart_threshold=5 * KIB * KIB, multipart_chunksize=5 * KIB * KIB, max_concurrency=4)
    s3 = client("s3", url)
    s3.upload_file(file, "shop", "big", Config=config)
    show("uploaded")


@app.workflow
def uploaded_in_order(url: str, file: str) -> None:
    config = TransferConfig(multipart_threshold=5 * KIB * KIB, multipart_chunksize=5 * KIB * KIB, max_concurrency=1)
    client("s3", url).upload_file(file, "shop", "big", Config=config)
    show("uploaded")


@app.workflow
def downloaded_in_parts(url: str, file: str) -> None:
    config = TransferConfig(multipart_threshold=5 * KIB, multipart_chunksize=2 * KIB, max_concurrency=4)
    client("s3", url).download_file("shop", "big", file, Config=config)
    show(Path(file).read_bytes()[-10:])


@app.workflow
def queue(url: str) -> None:
    sqs = client("sqs", url)
    show(sqs.send_message(QueueUrl=f"{url}/1/orders", MessageBody="an order"))
    got = sqs.receive_message(QueueUrl=f"{url}/1/orders")
    show(got)
    show(sqs.delete_message(QueueUrl=f"{url}/1/orders", ReceiptHandle=got["Messages"][0]["ReceiptHandle"]))


@app.workflow
def table(url: str) -> None:
    dynamodb = client("dynamodb", url)
    for name in ("a", "b", "c", "a"):
        item = {"id": {"S": name}, "n": {"N": "1.50"}}
        try:
            show(dynamodb.put_item(TableName="t", Item=item, ConditionExpression="attribute_not_exists(id)"))
        except dynamodb.exceptions.ConditionalCheckFailedException as error:
            show(error, error.response)
    show(dynamodb.get_item(TableName="t", Key={"id": {"S": "b"}}))
    show(list(dynamodb.get_paginator("query").paginate(TableName="t", KeyConditionExpression="id = :a")))


@app.workflow
def resources(url: str) -> None:
    items = boto3.resource("dynamodb", endpoint_url=url).Table("t")
    show(items.put_item(Item={"id": "a", "n": 3}))
    show(items.get_item(Key={"id": "a"}))
    show(items.query(KeyConditionExpression=Key("id").eq("a"))["Items"])
    stored = boto3.resource("s3", endpoint_url=url, config=Config(s3={"addressing_style": "path"})).Object("shop", "x")
    show(stored.put(Body=b"body"))
    show(stored.get()["Body"].read())


@app.workflow
def waited(url: str) -> None:
    client("dynamodb", url).get_waiter("table_exists").wait(TableName="t", WaiterConfig={"Delay": 0, "MaxAttempts": 9})
    show("it is there")


@app.workflow
def retried(url: str) -> None:
    got = client("sqs", url, retries={"mode": "standard", "total_max_attempts": 4}).send_message(
        QueueUrl=f"{url}/1/orders", MessageBody="an order"
    )
    show(got)


@app.workflow
def fails(url: str, nobody: str) -> None:
    for target in (nobody, f"{url}/"):
        sqs = client("sqs", target, retries={"total_max_attempts": 1}, read_timeout=5)
        show(caught(lambda sqs=sqs: sqs.send_message(QueueUrl=f"{target}/1/x", MessageBody="m")))  # type: ignore[misc]


@app.workflow
def twenty_at_once(url: str) -> None:
    s3 = client("s3", url, max_pool_connections=20)
    with ThreadPoolExecutor(20) as threads:

        def put(number: int) -> str:
            return str(s3.put_object(Bucket="shop", Key=f"n{number}", Body=str(number).encode())["ETag"])

        show(list(threads.map(put, range(20))))
