"""The name of an automatic step: what is called, by where it is defined, and not by how it is spelled (rule A8)."""

from __future__ import annotations

from typing import Any

from .packages import user_packages
from .twins import segment


def operation_name(callee: Any, owner: Any = None) -> str:
    """``httpx.Client.post``: the root package of the callee's module and its own qualified name; user code has no root.

    ``owner`` is the object that a method is called on. A function that was only given a ``__name__`` (the operations of
    botocore) is named by it and by the owner's class.
    """
    kind = callee if isinstance(callee, type) else type(callee)
    name = getattr(callee, "__qualname__", None)
    if not isinstance(name, str) or kind.__name__ == "partial":
        name, callee = kind.__qualname__, kind
    own = getattr(callee, "__name__", name)
    if isinstance(own, str) and own != name.rpartition(".")[2] and owner is not None:
        name, callee = f"{type(owner).__qualname__}.{own}", type(owner)
    module = getattr(callee, "__module__", None)
    if not isinstance(module, str):
        module = getattr(type(getattr(callee, "__self__", None)), "__module__", "") or ""
    root = module.partition(".")[0]
    return segment(name) if not root or root in user_packages() else f"{segment(root)}.{segment(name)}"
