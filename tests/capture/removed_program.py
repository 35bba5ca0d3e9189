"""One call by each library and SDK, each in a run of its own: ``python removed_program.py SERVERS NAMES``.

With ``STOP`` set each body ends by an error once it has its answer; without, the runs are delivered again. Prints what
came of each run: its result, or how it faulted.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import smtplib
import sys
import urllib.request
from typing import Any

from semel import App

app = App("capture", database=os.environ["DATABASE"])

SAID: Any = [{"role": "user", "content": "hello"}]


class StopHere(Exception):
    """The body has its answer."""


@app.workflow
def sync(name: str, url: str) -> str:
    answer = str(globals()[f"ask_{name}"](url))
    if "STOP" in os.environ:
        raise StopHere(answer)
    return answer


@app.workflow
async def coroutines(name: str, url: str) -> str:
    answer = str(await globals()[f"ask_{name}"](url))
    if "STOP" in os.environ:
        raise StopHere(answer)
    return answer


def library(name: str) -> Any:
    return importlib.import_module(name)


def ask_httpx(url: str) -> Any:
    return library("httpx").get(f"{url}/json").text


def ask_httpx2(url: str) -> Any:
    return library("httpx2").get(f"{url}/json").text


def ask_requests(url: str) -> Any:
    return library("requests").get(f"{url}/json").text


def ask_urllib3(url: str) -> Any:
    return library("urllib3").PoolManager(retries=False).request("GET", f"{url}/json").data


def ask_urllib(url: str) -> Any:
    return urllib.request.urlopen(f"{url}/json").read()


async def ask_aiohttp(url: str) -> Any:
    async with library("aiohttp").request("GET", f"{url}/json") as response:
        return await response.text()


def ask_boto3(url: str) -> Any:
    config = library("botocore.config").Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1})
    s3 = library("boto3").client("s3", endpoint_url=url, config=config)
    return s3.get_object(Bucket="shop", Key="k")["Body"].read()


def ask_botocore(url: str) -> Any:
    """A directory bucket: botocore first asks for a session, in each process, which is no part of the call."""
    config = library("botocore.config").Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1})
    s3 = library("boto3").client("s3", endpoint_url=url, config=config)
    return s3.get_object(Bucket="express--usw2-az1--x-s3", Key="k")["Body"].read()


def ask_smtplib(address: str) -> Any:
    host, _, port = address.partition(":")
    with smtplib.SMTP(host, int(port)) as server:
        return server.sendmail("me@test", ["you@test", "no@test"], "Subject: A letter\r\n\r\nHello")


async def ask_aiosmtplib(address: str) -> Any:
    host, _, port = address.partition(":")
    text = "Subject: A letter\r\n\r\nHello"
    return await library("aiosmtplib").send(text, sender="me@test", recipients="you@test", hostname=host, port=port)


def ask_openai(url: str) -> Any:
    client = library("openai").OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0)
    return client.chat.completions.create(model="plain", messages=SAID)


def ask_anthropic(url: str) -> Any:
    client = library("anthropic").Anthropic(api_key="k", base_url=url, max_retries=0)
    return client.messages.create(model="plain", max_tokens=9, messages=SAID)


def ask_stripe(url: str) -> Any:
    stripe = library("stripe")
    stripe.api_key, stripe.api_base = "sk_test", url
    return stripe.Charge.create(amount=1950, currency="eur").id


def main(servers: dict[str, str], names: list[str]) -> None:
    runs = {}
    for name in names:
        body: Any = coroutines if inspect.iscoroutinefunction(globals()[f"ask_{name}"]) else sync
        runs[name] = app.start(body, name, servers[name], id=name)
        if "STOP" not in os.environ:
            runs[name].retry()
    came = {}
    with app.worker():
        for name, run in runs.items():
            try:
                came[name] = run.result(timeout=60)
            except Exception as error:
                came[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(came))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), json.loads(sys.argv[2]))
    app.close()
