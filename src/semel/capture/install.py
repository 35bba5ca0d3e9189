"""Installs the recorder's patches: at once for the libraries that are imported, and for others when they are."""

from __future__ import annotations

import importlib
import threading
from importlib.util import find_spec

from semel.config import Settings

from . import external, headers, passthrough
from .imports import when_imported

#: The files of this room that patch a library; each says in ``MODULES`` whose import it waits for.
LIBRARIES = (
    *("httpx", "httpx2", "urllib3", "botocore", "http_client", "aiohttp", "smtplib", "aiosmtplib"),
    *("guard", "threads", "sleeps", "grpc", "websockets"),
)


def capture(settings: Settings) -> None:
    """Installs the patches, and what the project's settings say of calls."""
    external.configure(settings.external)
    passthrough.configure(settings.passthrough)
    headers.allow(settings.response_headers)
    install()


_lock = threading.Lock()
_installed = False


def install() -> None:
    """Patches what makes calls. Once per process; outside of a run a patched function only looks at one variable."""
    global _installed
    with _lock:
        if _installed:
            return
        _installed = True
        for name in LIBRARIES:
            if find_spec(f"semel.capture.{name}") is None:
                continue  # whoever leaves a library's file out has the others
            library = importlib.import_module(f"semel.capture.{name}")
            for module in library.MODULES:
                when_imported(module, library.install)
