"""What programs do with aiosmtplib; each function gives what it got."""

from __future__ import annotations

import asyncio
import os
import ssl
from email.message import EmailMessage
from typing import Any

import aiosmtplib
from deep import show

from semel import App, once

app = App("capture", database=os.environ["DATABASE"])


@app.workflow
async def flows(host: str, port: int, names: list[str]) -> None:
    for name in names:
        show([name, await globals()[name](host, port)])


async def caught(call: Any) -> Any:
    try:
        return await call
    except (OSError, aiosmtplib.SMTPException) as error:
        return error


def letter(text: str = "Hello", to: str = "you@test") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "me@test", to, "A letter"
    message.set_content(text)
    message.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream", filename="a.bin")
    return message


def text(body: str = "Hello") -> str:
    return f"From: me@test\r\nTo: you@test\r\n\r\n{body}"


async def plain(host: str, port: int) -> Any:
    return await aiosmtplib.send(letter(), hostname=host, port=port, username="me", password="right")


async def raw(host: str, port: int) -> Any:
    to = ["you@test", "nobody@test"]
    return await aiosmtplib.send(text(), sender="me@test", recipients=to, hostname=host, port=port)


async def by_hand(host: str, port: int) -> Any:
    client = aiosmtplib.SMTP(hostname=host, timeout=10)
    seen: list[Any] = [client.is_connected, await client.connect(port=port), client.is_connected, await client.ehlo()]
    seen += [await client.login("me", "right"), await client.noop(), await client.rset()]
    seen += [await caught(client.connect()), await client.sendmail("me@test", ["you@test", "no@test"], text())]
    return [*seen, await client.quit(), client.is_connected, await caught(client.quit())]


async def in_a_block(host: str, port: int) -> Any:
    async with aiosmtplib.SMTP(hostname=host, port=port) as client:
        return [await client.send_message(letter(f"Number {number}")) for number in range(3)]


async def secured(host: str, port: int) -> Any:
    context = ssl._create_unverified_context()
    async with aiosmtplib.SMTP(hostname=host, port=port, start_tls=False) as client:
        await client.starttls(tls_context=context)
        return await client.send_message(letter())


async def secured_from_the_start(host: str, port: int) -> Any:
    context = ssl._create_unverified_context()
    return await aiosmtplib.send(letter(), hostname=host, port=port, use_tls=True, tls_context=context)


async def distrusted(host: str, port: int) -> Any:
    return await caught(aiosmtplib.send(letter(), hostname=host, port=port, use_tls=True))


async def refusals(host: str, port: int) -> Any:
    seen: list[Any] = []
    for sender, to, body in (
        ("me@test", ["nobody@test", "no@test"], "Hello"),
        ("nobody@test", ["you@test"], "Hello"),
        ("me@test", ["you@test"], "spam"),
    ):
        call = aiosmtplib.send(text(body), sender=sender, recipients=to, hostname=host, port=port)
        seen.append(await caught(call))
    return seen


async def wrong_password(host: str, port: int) -> Any:
    call = aiosmtplib.send(letter(), hostname=host, port=port, username="me", password="wrong-secret")
    return await caught(call)


async def no_server(host: str, port: int) -> Any:
    return await caught(aiosmtplib.send(letter(), hostname=host, port=int(os.environ["CLOSED_PORT"])))


async def dropped_and_sent_again(host: str, port: int) -> Any:
    async with aiosmtplib.SMTP(hostname=host, port=port) as client:
        return [await caught(client.send_message(letter())) for _ in range(2)]


async def never_connected(host: str, port: int) -> Any:
    return await caught(aiosmtplib.SMTP(hostname=host).sendmail("me@test", "you@test", text()))


async def concurrently(host: str, port: int) -> Any:
    return await asyncio.gather(*[one_of_many(host, port, number) for number in range(20)])


async def one_of_many(host: str, port: int, number: int) -> Any:
    refused, _ = await aiosmtplib.send(letter(to=f"you{number}@test"), hostname=host, port=port)
    return refused


async def concurrently_over_one(host: str, port: int) -> Any:
    async with aiosmtplib.SMTP(hostname=host, port=port) as client:
        calls = [client.send_message(letter(to=f"you{number}@test")) for number in range(5)]
        return [refused for refused, _ in await asyncio.gather(*calls)]


async def in_a_once(host: str, port: int) -> Any:
    client = aiosmtplib.SMTP(hostname=host, port=port)
    await client.connect()
    refused = await once("mail", lambda: client.sendmail("me@test", ["you@test"], text()))
    await client.quit()
    return refused[0]


@app.workflow
async def fulfil(host: str, port: int) -> str:
    async with aiosmtplib.SMTP(hostname=host, port=port, username="me", password="right") as client:
        for to in ("first@test", "second@test", "third@test"):
            await client.sendmail("me@test", [to], text(f"For {to}"))
    return "sent"


@app.workflow
async def asks(host: str, port: int, what: str) -> str:
    async with aiosmtplib.SMTP(hostname=host, port=port) as client:
        if what == "VRFY":
            await client.vrfy("you@test")
        elif what == "supports_extension":
            client.supports_extension("starttls")
        elif what == "MAIL":
            await client.mail("me@test")
        elif what == "DATA":
            await client.data("text")
        else:
            await client.execute_command(what.encode())
    return "told"
