"""The typed HTTP client: an API as a class whose methods are its operations. Built on httpx (``semel[client]``).

A class is read once, when it is made; each of its operations is replaced by a function of semel's with the author's
name and signature, so that in a run a call of it is one step, named after it (rule A8). Outside a run it is an ordinary
client.
"""

from __future__ import annotations

from .auth import Bearer, Env
from .client import Client
from .markers import Body, BodyField, Header, Query
from .verbs import delete, get, head, options, patch, post, put

__all__ = [
    "Bearer",
    "Body",
    "BodyField",
    "Client",
    "Env",
    "Header",
    "Query",
    "delete",
    "get",
    "head",
    "options",
    "patch",
    "post",
    "put",
]
