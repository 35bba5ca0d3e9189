"""``each``: a loop whose passes are named by the item and not by its position (rule O16).

The passes of an ordinary loop are numbered, and a number is a position in the data: inserting an item, or another order
of a query, moves it. ``for line in each(order.lines, key=lambda line: line.sku):`` names each pass by the key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar, overload

from semel.compiler.path import Key, pass_name
from semel.errors import DuplicateKey

T = TypeVar("T")


class Each(Generic[T]):
    """The items with their keys; iterating it gives the items."""

    __slots__ = ("_items", "_keys")

    def __init__(self, keys: list[object], items: list[T]) -> None:
        self._keys = keys
        self._items = items

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __semel_passes__(self) -> Iterator[tuple[object, T]]:
        return iter(zip(self._keys, self._items, strict=True))


@overload
def each(items: Iterable[T]) -> Each[T]: ...
@overload
def each(items: Iterable[T], key: Callable[[T], object]) -> Each[T]: ...
def each(items: Iterable[T], key: Callable[[T], object] | None = None) -> Each[T]:
    """Names the passes of a loop over ``items`` by ``key(item)``, or by the item itself.

    A key is a str, int, UUID, … : what prints the same in every process (see ``pass_name``).

    Raises:
        DuplicateKey: two items have one key; nothing has run (rule O16).
        TypeError: a key has no name that is the same in every process.
    """
    listed = list(items)
    keys: list[object] = []
    seen: dict[str, int] = {}
    for index, item in enumerate(listed):
        value = Key(item if key is None else key(item))
        name = pass_name(value)
        if name in seen:
            raise DuplicateKey(
                f"each(…): items {seen[name]} and {index} have the same key {name[1:]}, so their steps would share one "
                f"record; give a key that tells them apart, for example key=lambda item: (item.order, item.line)"
            )
        seen[name] = index
        keys.append(value)
    return Each(keys, listed)
