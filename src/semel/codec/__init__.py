"""Values and failures to bytes and back, exactly (rules O22, O23, O24, D4).

``Codec`` is all that the engine needs, over a ``TypeRegistry`` that knows the app's packages. The bytes are described
in ``format``. Nothing is ever unpickled or imported because a record says so.
"""

from __future__ import annotations

from .codec import Codec
from .discretion import RecordedCause, discreet
from .errors import NotEncodable
from .exchange import MAIL, Answer, AnswerTooLarge, Exchange
from .failures import failure_traceback
from .format import MAX_BYTES, MAX_DEPTH
from .kinds.http_parts import without_userinfo
from .registry import TypeRegistry

__all__ = [
    "MAIL",
    "MAX_BYTES",
    "MAX_DEPTH",
    "Answer",
    "AnswerTooLarge",
    "Codec",
    "Exchange",
    "NotEncodable",
    "RecordedCause",
    "TypeRegistry",
    "discreet",
    "failure_traceback",
    "without_userinfo",
]
