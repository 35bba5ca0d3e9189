"""Names the operations of botocore and boto3, whose classes are made when the program runs, from their data files."""

from __future__ import annotations

import ast
import gzip
import re
from functools import cache
from pathlib import Path

from . import libraries

_NO_OPERATIONS = frozenset(
    {"close", "can_paginate", "get_paginator", "get_waiter", "generate_presigned_url", "generate_presigned_post"}
)
_TRANSFERS = frozenset({"upload_file", "download_file", "copy", "upload_fileobj", "download_fileobj"})
_STUBS = ("mypy_boto3_", "types_boto3_", "types_aiobotocore_")
_RESOURCE_METHODS = frozenset({"get_available_subresources", "batch_writer"})


def operation(dotted: str) -> str | None:
    """The operation that a method of a client, a resource, a paginator or a waiter is; None if it is none."""
    owner, _, method = dotted.rpartition(".")
    if owner == "botocore.paginate.Paginator()" and method == "paginate":
        return "botocore.BaseClient.get_paginator.paginate"
    if owner == "botocore.waiter.Waiter()" and method == "wait":
        return "botocore.create_waiter_with_client.wait"
    if owner.startswith("botocore.client.") and owner.endswith("()"):
        service = owner[len("botocore.client.") : -2]
        if method in _NO_OPERATIONS or method.startswith("_"):
            return None
        transfer = service == "S3" and method in _TRANSFERS
        return f"boto3.{method}" if transfer else f"botocore.{service}.{method}"
    if owner.startswith("boto3.resources.") and owner.endswith("()"):
        kind = owner[len("boto3.resources.") : -2]
        service, _, resource = kind.partition(":")
        if "." in kind or not resource or method[:1].isupper() or method in _RESOURCE_METHODS:
            return None
        if service == "s3" and resource in ("Bucket", "Object") and method in _TRANSFERS:
            return f"boto3.{resource.lower()}_{method}"
        return f"boto3.{service}.{resource}.{method}"
    return None


def made_by(dotted: str, node: ast.Call) -> str | None:
    """The class that a call of a factory of boto3 or botocore gives, as a dotted name."""
    owner, _, method = dotted.rpartition(".")
    if owner in ("boto3", "boto3.Session()", "boto3.session.Session()") and method in ("client", "resource"):
        return _client(node) if method == "client" else _resource(node)
    if dotted in ("botocore.session.get_session", "botocore.session.Session"):
        return "botocore.session.Session"
    if dotted == "botocore.session.Session().create_client":
        return _client(node)
    if owner.startswith("botocore.client."):
        return {"get_paginator": "botocore.paginate.Paginator", "get_waiter": "botocore.waiter.Waiter"}.get(method)
    if owner.startswith("boto3.resources.") and method[:1].isupper():
        service = owner[len("boto3.resources.") :].partition(":")[0]
        return f"boto3.resources.{service}:{method}"
    return None


def of_stub(dotted: str) -> str | None:
    """``mypy_boto3_s3.S3Client``, as it stands in annotations, by the class that it means."""
    root, _, name = dotted.partition(".")
    prefix = next((prefix for prefix in _STUBS if root.startswith(prefix)), None)
    if prefix is None:
        return None
    service, kind = root[len(prefix) :].replace("_", "-"), name.rpartition(".")[2]
    if kind.endswith("Client"):
        made = client_class(service)
        return f"botocore.client.{made}" if made is not None else None
    return f"boto3.resources.{service}:{kind.removesuffix('Resource')}" if kind[:1].isupper() else None


def _service(node: ast.Call) -> str | None:
    given = [*node.args[:1], *[k.value for k in node.keywords if k.arg == "service_name"]]
    return given[0].value if given and isinstance(given[0], ast.Constant) and isinstance(given[0].value, str) else None


def _client(node: ast.Call) -> str | None:
    service = _service(node)
    made = client_class(service) if service is not None else None
    return f"botocore.client.{made}" if made is not None else None


def _resource(node: ast.Call) -> str | None:
    service = _service(node)
    return f"boto3.resources.{service}:ServiceResource" if service is not None else None


@cache
def client_class(service: str) -> str | None:
    """The name of the class that botocore makes for a service: ``S3``."""
    folder = libraries.folder_of("botocore")
    if folder is None or not re.fullmatch(r"[\w-]+", service):
        return None
    versions = sorted((folder / "data" / service).glob("*/service-2.json*"))
    if not versions:
        return None
    head = _head(versions[-1])
    names = dict(re.findall(r'"(service\w+)"\s*:\s*"([^"]*)"', head))
    table = _table()
    if table is not None:
        identity = names.get("serviceId")
        return service if identity is None else table.get(identity) or re.sub(r"\W+", "", identity)
    full = names.get("serviceAbbreviation") or names.get("serviceFullName") or service
    return re.sub(r"\W+", "", full.replace("Amazon", "").replace("AWS", ""))


def _head(file: Path) -> str:
    try:
        if file.suffix == ".gz":
            with gzip.open(file) as opened:
                return opened.read(4096).decode("utf-8", "replace")
        with file.open("rb") as opened_plain:
            return opened_plain.read(4096).decode("utf-8", "replace")
    except (OSError, EOFError):
        return ""


@cache
def _table() -> dict[str, str] | None:
    """botocore's own table of exceptions; None in versions that name classes by the service's abbreviation."""
    found = libraries.source_of("botocore.service_module_names")
    if found is None:
        return None
    for statement in ast.parse(found[1]).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict):
            try:
                return dict(ast.literal_eval(statement.value))
            except ValueError:
                return {}
    return {}
