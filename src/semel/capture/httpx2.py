"""Records the calls of httpx2, and of every SDK that is built on it: those of OpenAI and Anthropic are.

Relies on ``httpx2.HTTPTransport.handle_request`` and ``httpx2.AsyncHTTPTransport.handle_async_request`` being what
every exchange over a network goes through. The package is a successor of httpx with classes of its own.
"""

from __future__ import annotations

from semel.capture._httpx_like import install as install

MODULES = ("httpx2",)
