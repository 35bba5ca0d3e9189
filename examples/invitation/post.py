"""Stands in for a mail server."""


class Post:
    """Keeps what was sent."""

    def __init__(self) -> None:
        self.letters: list[tuple[str, str]] = []

    def send(self, to: str, text: str) -> None:
        self.letters.append((to, text))


post = Post()
