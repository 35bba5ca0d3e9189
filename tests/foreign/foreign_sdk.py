"""Stands for somebody else's SDK: it retries, works in a pool, and asks for pages while its result is iterated."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx

client = httpx.Client(trust_env=False)


class SdkError(Exception):
    pass


class Service:
    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, path: str, tries: int = 3, pause: float = 0.0, pauses: list[int] | None = None) -> int:
        """Tries again after any failure."""
        for left in reversed(range(tries)):
            try:
                answer = client.get(self.url + path)
                if answer.status_code < 500:
                    return int(answer.json()["count"])
            except Exception:
                if not left:
                    raise
            if left and pauses is not None:
                pauses.append(left)
                time.sleep(pause)
        raise SdkError(f"{path}: {answer.status_code}")

    def ask_all(self, paths: list[str], threads: int = 4) -> list[str]:
        """In a pool of threads."""
        client.post(f"{self.url}/begin")
        with ThreadPoolExecutor(threads) as pool:
            answers = list(pool.map(client.get, [self.url + path for path in paths]))
        client.post(f"{self.url}/end")
        return [answer.json()["path"] for answer in answers]

    def pages(self, count: int) -> Iterator[str]:
        """One request per page, when the page is asked for."""
        for number in range(count):
            yield client.get(f"{self.url}/page/{number}").json()["path"]

    def polled(self, times: int) -> list[int]:
        """Asks the same again and again."""
        return [int(client.get(f"{self.url}/state").json()["count"]) for _ in range(times)]

    def post_all(self, count: int) -> list[int]:
        """In a pool, each with something new in its body."""
        with ThreadPoolExecutor(3) as pool:
            asked = [
                pool.submit(client.post, f"{self.url}/rpc", json={"id": secrets.token_hex(4)}) for _ in range(count)
            ]
            return [int(done.result().json()["count"]) for done in asked]

    def lazy_length(self) -> _Lazy:
        """Asks when its length is wanted."""
        return _Lazy(self.url)


class _Lazy:
    def __init__(self, url: str) -> None:
        self.url = url

    def __len__(self) -> int:
        return int(client.get(f"{self.url}/length").json()["count"])
