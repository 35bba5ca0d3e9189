"""Mail to servers that are no good, with smtplib and with aiosmtplib; each gives what it got."""

from __future__ import annotations

import os
import smtplib

import aiosmtplib
from deep import show

from semel import App

app = App("capture", database=os.environ["DATABASE"])

TEXT = "Subject: A letter\r\n\r\nHello"


@app.workflow
def by_smtplib(host: str, port: int) -> None:
    try:
        with smtplib.SMTP(host, port, timeout=10) as server:
            show(server.sendmail("me@test", ["you@test"], TEXT))
    except OSError as error:
        show(error)


@app.workflow
async def by_aiosmtplib(host: str, port: int) -> None:
    to = ["you@test"]
    try:
        show(await aiosmtplib.send(TEXT, sender="me@test", recipients=to, hostname=host, port=port, timeout=10))
    except aiosmtplib.SMTPException as error:
        show(error)
