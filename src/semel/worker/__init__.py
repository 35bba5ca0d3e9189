"""Workers: they claim runs, keep their lease, and drive bodies on threads and on an event loop."""

from .worker import Worker

__all__ = ["Worker"]
