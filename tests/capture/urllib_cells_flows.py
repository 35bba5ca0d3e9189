"""More of what programs do with urllib.request and what is built on http.client: each gives the objects that it got."""

from __future__ import annotations

import os
import urllib.request
import xmlrpc.client
from typing import Any

from deep import show

from semel import App

app = App("capture", database=os.environ["DATABASE"])


@app.workflow
def flows(url: str, names: list[str]) -> None:
    for name in names:
        show([name, globals()[name](url)])


def longer(url: str) -> Any:
    response = urllib.request.urlopen(f"{url}/longer")
    return response.status, response.headers.items(), response.read(), response


def remote_call(url: str) -> Any:
    """The library asks again by itself where the connection was closed."""
    with xmlrpc.client.ServerProxy(f"{url}/rpc-at-last?live") as proxy:
        return proxy.answer(1, "two")


class AskingAgain(urllib.request.BaseHandler):
    """As SDKs on urllib do it."""

    def http_error_503(self, request: Any, file: Any, code: int, text: str, headers: Any) -> Any:
        file.read()
        return self.parent.open(request)


def retried(url: str) -> Any:
    response = urllib.request.build_opener(AskingAgain()).open(f"{url}/flaky?live")
    return response.status, response.read()


@app.workflow
def asked_again(url: str) -> str:
    return str(urllib.request.build_opener(AskingAgain()).open(f"{url}/flaky").read())


@app.workflow
def called_again(url: str) -> str:
    return str(xmlrpc.client.ServerProxy(f"{url}/rpc-at-last").answer(1))
