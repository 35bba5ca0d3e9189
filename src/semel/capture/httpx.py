"""Records the calls of httpx, and of every SDK that is built on it.

Relies on ``httpx.HTTPTransport.handle_request`` and ``httpx.AsyncHTTPTransport.handle_async_request`` being what every
exchange over a network goes through.
"""

from __future__ import annotations

from semel.capture._httpx_like import install as install

MODULES = ("httpx",)
