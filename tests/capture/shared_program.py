"""Twenty runs at once over one client of a library: ``python shared_program.py KIND ADDRESS``.

With ``DIE`` set the process kills itself when all twenty bodies stand before their end.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import json
import os
import signal
import smtplib
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

from semel import App

app = App("capture", database=os.environ["DATABASE"])

RUNS = 20
SAID: Any = [{"role": "user", "content": "hello"}]

#: Shared by all bodies; made before the first of them.
client: Any = None


def die_before_the_end() -> None:
    """Is called when all are there, and none has gone on."""
    if "DIE" in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)


begun, done = threading.Barrier(RUNS), threading.Barrier(RUNS, action=die_before_the_end)
begun_async, done_async = asyncio.Barrier(RUNS), asyncio.Barrier(RUNS)


@app.workflow
def sync(kind: str, address: str, number: int) -> list[str]:
    begun.wait()
    said = [globals()[f"ask_{kind}"](address, f"{number}-{n}") for n in range(2)]
    done.wait()
    return said


@app.workflow
async def coroutines(kind: str, address: str, number: int) -> list[str]:
    await begun_async.wait()
    said = [await globals()[f"ask_{kind}"](address, f"{number}-{n}") for n in range(2)]
    if await done_async.wait() == RUNS - 1:
        die_before_the_end()
    return said


# ------------------------------------------ each answers with what it was asked, so that it is seen if two are mixed up


def ask_urllib(address: str, key: str) -> str:
    return str(client.open(f"{address}/echo", key.encode()).read().split()[-1].decode())


def ask_urllib3(address: str, key: str) -> str:
    return str(client.request("POST", f"{address}/echo", body=key).data.split()[-1].decode())


def ask_boto3(address: str, key: str) -> str:
    client.put_object(Bucket="shop", Key=key, Body=key.encode())
    return str(client.get_object(Bucket="shop", Key=key)["Body"].read().decode())


def ask_stripe(address: str, key: str) -> str:
    number, n = key.split("-")
    amount = client.Charge.create(amount=int(number) * 100 + int(n), currency="eur").amount
    return f"{amount // 100}-{amount % 100}"


def ask_openai(address: str, key: str) -> str:
    return str(client.chat.completions.create(model=key, messages=SAID).model)


def ask_anthropic(address: str, key: str) -> str:
    return str(client.messages.create(model=key, max_tokens=9, messages=SAID).model)


def ask_smtplib(address: str, key: str) -> str:
    """Its clients are not made to be shared by threads: each body has one, to one server."""
    host, _, port = address.partition(":")
    with smtplib.SMTP(host, int(port)) as own:
        (refused,) = own.sendmail("me@test", [f"you-{key}@test", f"no-{key}@test"], f"Subject: {key}\r\n\r\n{key}")
    return str(refused).removeprefix("no-").removesuffix("@test")


async def ask_aiohttp(address: str, key: str) -> str:
    async with client.post(f"{address}/echo", data=key) as response:
        return str((await response.text()).split()[-1])


async def ask_openai_async(address: str, key: str) -> str:
    return str((await client.chat.completions.create(model=key, messages=SAID)).model)


async def ask_anthropic_async(address: str, key: str) -> str:
    return str((await client.messages.create(model=key, max_tokens=9, messages=SAID)).model)


async def ask_aiosmtplib(address: str, key: str) -> str:
    to = [f"you-{key}@test", f"no-{key}@test"]
    (refused,), _ = await client.sendmail("me@test", to, f"Subject: {key}\r\n\r\n{key}")
    return str(refused).removeprefix("no-").removesuffix("@test")


# ------------------------------------------------------------------------------------------------------- the clients


def client_of(kind: str, address: str) -> Any:
    """What is shared; called outside of any run, and for coroutines in their loop. It imports no other library."""
    if kind == "urllib":
        return urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    if kind == "smtplib":
        return None
    library: Any = importlib.import_module(kind.removesuffix("_async"))
    if kind == "urllib3":
        return library.PoolManager(maxsize=RUNS)
    if kind == "boto3":
        config = importlib.import_module("botocore.config").Config
        options = config(s3={"addressing_style": "path"}, max_pool_connections=RUNS)
        return library.client("s3", endpoint_url=address, config=options)
    if kind == "stripe":
        library.api_key, library.api_base = "sk_test", address
        return library
    if kind == "aiohttp":
        return library.ClientSession()
    if kind == "aiosmtplib":
        host, _, port = address.partition(":")
        return library.SMTP(hostname=host, port=int(port))
    names = {"openai": "OpenAI", "anthropic": "Anthropic"}
    made = getattr(library, ("Async" if kind.endswith("_async") else "") + names[library.__name__])
    return made(api_key="k", base_url=address + ("/v1" if library.__name__ == "openai" else ""), timeout=60)


def write(results: list[Any]) -> None:
    Path(os.environ["SHOWN"]).write_text(json.dumps(results))


def main(kind: str, address: str) -> None:
    global client
    client = client_of(kind, address)
    runs = [app.start(sync, kind, address, number, id=str(number)) for number in range(RUNS)]
    with app.worker(threads=RUNS):
        write([run.result(timeout=60) for run in runs])


async def main_async(kind: str, address: str) -> None:
    global client
    client = client_of(kind, address)
    if kind == "aiosmtplib":
        with contextlib.suppress(OSError):  # the second time, nobody is there any more
            await client.connect()
    runs = [await app.start_async(coroutines, kind, address, number, id=str(number)) for number in range(RUNS)]
    async with app.worker():
        write([await run.result_async(timeout=60) for run in runs])
    if kind == "aiohttp":
        await client.close()
    elif kind == "aiosmtplib":
        client.close()


if __name__ == "__main__":
    kind, address = sys.argv[1:]
    if inspect.iscoroutinefunction(globals()[f"ask_{kind}"]):
        asyncio.run(main_async(kind, address))
    else:
        main(kind, address)
    app.close()
