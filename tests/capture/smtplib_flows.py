"""What programs do with smtplib; each function gives what it got."""

from __future__ import annotations

import os
import smtplib
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from typing import Any

from deep import show

from semel import App, once

app = App("capture", database=os.environ["DATABASE"])


@app.workflow
def flows(host: str, port: int, names: list[str]) -> None:
    for name in names:
        show([name, globals()[name](host, port)])


def caught(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except OSError as error:
        return error


def letter(text: str = "Hello", to: str = "you@test") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "me@test", to, "A letter"
    message.set_content(text)
    message.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream", filename="a.bin")
    return message


def text(body: str = "Hello") -> str:
    return f"From: me@test\r\nTo: you@test\r\n\r\n{body}"


def plain(host: str, port: int) -> Any:
    with smtplib.SMTP(host, port) as server:
        return server.send_message(letter())


def by_hand(host: str, port: int) -> Any:
    server = smtplib.SMTP(timeout=10)
    seen: list[Any] = [
        server.connect(host, port),
        server.ehlo(),
        server.login("me", "right"),
        server.noop(),
        server.rset(),
    ]
    seen.append(server.sendmail("me@test", ["you@test", "nobody@test"], text()))
    return [*seen, server.quit()]


def secured(host: str, port: int) -> Any:
    with smtplib.SMTP(host, port) as server:
        server.starttls(context=ssl._create_unverified_context())
        server.login("me", "right")
        return server.send_message(letter())


def secured_from_the_start(host: str, port: int) -> Any:
    with smtplib.SMTP_SSL(host, port, context=ssl._create_unverified_context()) as server:
        return server.send_message(letter())


def distrusted(host: str, port: int) -> Any:
    def send() -> Any:
        with smtplib.SMTP_SSL(host, port, context=ssl.create_default_context()) as server:
            return server.send_message(letter())

    return caught(send)


def refusals(host: str, port: int) -> Any:
    seen: list[Any] = []
    for sender, to, body in (
        ("me@test", ["nobody@test", "no@test"], "Hello"),
        ("nobody@test", ["you@test"], "Hello"),
        ("me@test", ["you@test"], "spam"),
    ):
        with smtplib.SMTP(host, port) as server:
            seen.append(caught(lambda server=server, args=(sender, to, text(body)): server.sendmail(*args)))
    return seen


def wrong_password(host: str, port: int) -> Any:
    with smtplib.SMTP(host, port) as server:
        server.login("me", "wrong-secret")
        return caught(lambda: server.send_message(letter()))


def no_server(host: str, port: int) -> Any:
    with smtplib.SMTP(host, int(os.environ["CLOSED_PORT"])) as server:
        return caught(lambda: server.send_message(letter()))


def unknown_host(host: str, port: int) -> Any:
    with smtplib.SMTP("no.such.host.invalid", 25) as server:
        return caught(lambda: server.send_message(letter()))


def dropped_and_sent_again(host: str, port: int) -> Any:
    with smtplib.SMTP(host, port) as server:
        return [caught(lambda: server.send_message(letter())) for _ in range(2)]


def never_connected(host: str, port: int) -> Any:
    return caught(lambda: smtplib.SMTP().sendmail("me@test", "you@test", text()))


def many_over_one(host: str, port: int) -> Any:
    with smtplib.SMTP(host, port) as server:
        server.login("me", "right")
        return [server.send_message(letter(f"Number {number}")) for number in range(3)]


def concurrently(host: str, port: int) -> Any:
    def send(number: int) -> Any:
        with smtplib.SMTP(host, port) as server:
            return server.send_message(letter(to=f"you{number}@test"))

    with ThreadPoolExecutor(8) as pool:
        return [*pool.map(send, range(20))]


def in_a_once(host: str, port: int) -> Any:
    server = smtplib.SMTP(host, port)
    server.login("me", "right")
    refused = once("mail", lambda: server.send_message(letter()))
    server.quit()
    return refused


@app.workflow
def fulfil(host: str, port: int) -> str:
    with smtplib.SMTP(host, port) as server:
        server.login("me", "right")
        for to in ("first@test", "second@test", "third@test"):
            server.sendmail("me@test", to, text(f"For {to}"))
    return "sent"


#: A client that other code shares: connected when the module is imported, if there is a server.
shared = smtplib.SMTP(*os.environ.get("SHARED", "").split())


@app.workflow
def over_a_shared_client(host: str, port: int) -> str:
    return str(shared.sendmail("me@test", ["you@test", "no@test"], text()))


@app.workflow
def asks(host: str, port: int, what: str) -> str:
    server = smtplib.SMTP(host, port)
    if what == "vrfy":
        server.vrfy("you@test")
    elif what == "has_extn":
        server.has_extn("starttls")
    elif what == "mail":
        server.mail("me@test")
    elif what == "data":
        server.data("text")
    else:
        server.docmd(what)
    return "told"
