"""As much of S3, SQS, DynamoDB and of a container's credentials as the tests of boto3 ask for, on a free local port."""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from collections import Counter
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

XML = "application/xml"
AWS_JSON = "application/x-amz-json-1.0"


class AwsServer:
    """``with AwsServer() as aws``: all services under ``aws.url``. ``asked`` holds what came, in words, in order.

    ``failing`` says how many requests of an operation are answered with a throttling error before one is served.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failing: Counter[str] = Counter()
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.items: dict[str, dict[str, Any]] = {}
        self.messages: list[str] = []
        self.credentials_last = timedelta(hours=6)
        self.lock = threading.Lock()
        self._http = _Listening(("127.0.0.1", 0), _Handler)
        self._http.owner = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> AwsServer:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def environment(self) -> dict[str, str]:
        """What the process of a program needs in its environment to ask this server for its credentials only."""
        return {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{self.url}/credentials",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
            "AWS_CONFIG_FILE": "/nowhere",
            "AWS_DEFAULT_REGION": "eu-central-1",
        }


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "local", ""

    def do_GET(self) -> None:
        self.aws: AwsServer = self.server.owner  # type: ignore[attr-defined]
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        self.query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        self.key = unquote(parts.path).strip("/")
        operation = self._operation()
        with self.aws.lock:
            self.aws.asked.append(
                " ".join([operation, *([self.query["partNumber"]] if "partNumber" in self.query else [])])
            )
            throttled = self.aws.failing[operation] > 0
            if throttled:
                self.aws.failing[operation] -= 1
        if throttled:
            self._throttle()
        else:
            getattr(self, operation)()

    do_POST = do_PUT = do_DELETE = do_HEAD = do_GET

    def _operation(self) -> str:
        target = self.headers.get("X-Amz-Target")
        if target is not None:
            return target.partition(".")[2]
        if self.key == "credentials":
            return "Credentials"
        if "uploads" in self.query:
            return "CreateMultipartUpload"
        if "uploadId" in self.query:
            of = {"PUT": "UploadPart", "POST": "CompleteMultipartUpload", "DELETE": "AbortMultipartUpload"}
            return of[self.command]
        if "list-type" in self.query:
            return "ListObjectsV2"
        return {"GET": "GetObject", "PUT": "PutObject", "HEAD": "HeadObject", "DELETE": "DeleteObject"}[self.command]

    def _answer(self, status: int, body: bytes, kind: str, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("x-amz-request-id", f"request-{len(self.aws.asked)}")
        for name, value in headers:
            self.send_header(name, value)
        if not any(name == "Content-Length" for name, _ in headers):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _json(self, told: Any, status: int = 200) -> None:
        body = json.dumps(told).encode()
        # DynamoDB's client asks again where the checksum is not that of the body.
        self._answer(status, body, AWS_JSON, ("x-amz-crc32", str(zlib.crc32(body))))

    def _xml(self, name: str, inner: str, status: int = 200) -> None:
        self._answer(status, f'<?xml version="1.0"?><{name}>{inner}</{name}>'.encode(), XML)

    def _throttle(self) -> None:
        if self.headers.get("X-Amz-Target"):
            self._json({"__type": "aws#ThrottlingException", "message": "Rate exceeded"}, 400)
        else:
            self._xml("Error", "<Code>SlowDown</Code><Message>Reduce your request rate.</Message>", 503)

    # ---------------------------------------------------------------------------------------------------- credentials

    def Credentials(self) -> None:
        until = datetime.now(UTC) + self.aws.credentials_last
        told = {
            "AccessKeyId": f"AKID{len(self.aws.asked)}",
            "SecretAccessKey": "the-secret-key",
            "Token": "the-session-token",
            "Expiration": until.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        self._answer(200, json.dumps(told).encode(), "application/json")

    # ------------------------------------------------------------------------------------------------------------- S3

    def PutObject(self) -> None:
        self.aws.objects[self.key] = self.body
        self._answer(200, b"", XML, ("ETag", _etag(self.body)))

    def HeadObject(self) -> None:
        self.GetObject()

    def GetObject(self) -> None:
        body = self.aws.objects.get(self.key)
        if body is None:
            self._xml("Error", f"<Code>NoSuchKey</Code><Message>No.</Message><Key>{escape(self.key)}</Key>", 404)
            return
        facts = [("ETag", _etag(body)), ("Last-Modified", "Mon, 01 Jan 2024 10:00:00 GMT"), ("x-amz-meta-by", "ann")]
        wanted = self.headers.get("Range")
        if wanted is None:
            self._answer(200, body, "text/plain", *facts)
            return
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        piece = body[int(first) : int(last) + 1 if last else None]
        span = f"bytes {first}-{int(first) + len(piece) - 1}/{len(body)}"
        self._answer(206, piece, "text/plain", ("Content-Range", span), *facts)

    def DeleteObject(self) -> None:
        self.aws.objects.pop(self.key, None)
        self._answer(204, b"", XML)

    def ListObjectsV2(self) -> None:
        prefix = f"{self.key}/"
        keys = sorted(key.removeprefix(prefix) for key in self.aws.objects if key.startswith(prefix))
        start, size = int(self.query.get("continuation-token", "0")), int(self.query.get("max-keys", "1000"))
        page = keys[start : start + size]
        more = start + size < len(keys)
        inner = [
            f"<Name>{self.key}</Name><KeyCount>{len(page)}</KeyCount><IsTruncated>{str(more).lower()}</IsTruncated>"
        ]
        inner += [f"<Contents><Key>{escape(key)}</Key><Size>1</Size></Contents>" for key in page]
        inner += [f"<NextContinuationToken>{start + size}</NextContinuationToken>"] if more else []
        self._xml("ListBucketResult", "".join(inner))

    def CreateMultipartUpload(self) -> None:
        name = f"upload-{len(self.aws.uploads)}"
        self.aws.uploads[name] = {}
        self._xml("InitiateMultipartUploadResult", f"<Key>{self.key}</Key><UploadId>{name}</UploadId>")

    def UploadPart(self) -> None:
        self.aws.uploads[self.query["uploadId"]][int(self.query["partNumber"])] = self.body
        self._answer(200, b"", XML, ("ETag", _etag(self.body)))

    def CompleteMultipartUpload(self) -> None:
        parts = self.aws.uploads[self.query["uploadId"]]
        self.aws.objects[self.key] = b"".join(parts[number] for number in sorted(parts))
        self._xml("CompleteMultipartUploadResult", f"<Key>{self.key}</Key><ETag>{_etag(self.body)}</ETag>")

    def AbortMultipartUpload(self) -> None:
        self._answer(204, b"", XML)

    # ------------------------------------------------------------------------------------------------------------ SQS

    def SendMessage(self) -> None:
        text = json.loads(self.body)["MessageBody"]
        self.aws.messages.append(text)
        self._json({"MessageId": f"m{len(self.aws.messages)}", "MD5OfMessageBody": _md5(text.encode())})

    def ReceiveMessage(self) -> None:
        told = [
            {"MessageId": f"m{number}", "ReceiptHandle": f"r{number}", "Body": text, "MD5OfBody": _md5(text.encode())}
            for number, text in enumerate(self.aws.messages, 1)
        ]
        self._json({"Messages": told} if told else {})

    def DeleteMessage(self) -> None:
        self._json({})

    # ------------------------------------------------------------------------------------------------------- DynamoDB

    def PutItem(self) -> None:
        asked = json.loads(self.body)
        name = asked["Item"]["id"]["S"]
        if "ConditionExpression" in asked and name in self.aws.items:
            kind = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"
            self._json({"__type": kind, "message": "The conditional request failed", "Item": self.aws.items[name]}, 400)
            return
        self.aws.items[name] = asked["Item"]
        self._json({"ConsumedCapacity": {"TableName": asked["TableName"], "CapacityUnits": 1.5}})

    def GetItem(self) -> None:
        item = self.aws.items.get(json.loads(self.body)["Key"]["id"]["S"])
        self._json({} if item is None else {"Item": item})

    def Query(self) -> None:
        items = [self.aws.items[name] for name in sorted(self.aws.items)]
        after = json.loads(self.body).get("ExclusiveStartKey")
        start = 0 if after is None else [item["id"] for item in items].index(after["id"]) + 1
        page = items[start : start + 2]
        more = {"LastEvaluatedKey": {"id": page[-1]["id"]}} if start + 2 < len(items) else {}
        self._json({"Items": page, "Count": len(page), "ScannedCount": len(page), **more})

    def DescribeTable(self) -> None:
        asked = self.aws.asked.count("DescribeTable")
        status = "ACTIVE" if asked > 2 else "CREATING"
        self._json({"Table": {"TableName": json.loads(self.body)["TableName"], "TableStatus": status}})

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _md5(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


def _etag(body: bytes) -> str:
    return f'"{_md5(body)}"'
