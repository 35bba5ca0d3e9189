"""Refuses what a body outside a step sends or receives over a websocket: websockets, and those of aiohttp.

The sockets below are guarded too, but not on every event loop, and messages that come are input which a later attempt
would not get again. Opening a connection of ``websockets`` is refused at its socket.
"""

from __future__ import annotations

from types import ModuleType

from ._leaving import Leaving
from ._patching import refusing, replace

_SENDS = Leaving("a message is sent over a websocket")
_RECEIVES = Leaving("a message is awaited from a websocket, and a later attempt would not get it again")
_OPENS = Leaving("a websocket is opened")

#: By module and class: what sends, what receives, and what opens.
_PATCHES: dict[str, dict[str, dict[str, Leaving]]] = {
    **{
        f"websockets.{kind}.connection": {
            "Connection": {
                **dict.fromkeys(("send", "ping", "pong"), _SENDS),
                **dict.fromkeys(("recv", "recv_streaming"), _RECEIVES),
            }
        }
        for kind in ("sync", "asyncio")
    },
    "websockets.legacy.protocol": {
        "WebSocketCommonProtocol": {**dict.fromkeys(("send", "ping", "pong"), _SENDS), "recv": _RECEIVES}
    },
    "aiohttp.client": {"ClientSession": {"ws_connect": _OPENS}},
    "aiohttp.client_ws": {
        "ClientWebSocketResponse": {
            **dict.fromkeys(("send_frame", "send_str", "send_bytes", "send_json", "send_json_bytes"), _SENDS),
            **dict.fromkeys(("ping", "pong"), _SENDS),
            "receive": _RECEIVES,
        }
    },
}

MODULES = tuple(_PATCHES)


def install(module: ModuleType) -> None:
    """Patches the connections. Idempotent."""
    for kind, patches in _PATCHES[module.__name__].items():
        owner = getattr(module, kind)
        for name, it in patches.items():
            if name in vars(owner):
                replace(owner, name, refusing(it))
