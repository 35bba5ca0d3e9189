"""Stands in for a bank, which recognises a repeated idempotency key, and for the post."""

from semel import Decision


class CardDeclined(Decision):
    """The bank has decided: to ask it again is of no use (rule R6: a retry does not)."""


class BankUnreachable(Exception):
    """An accident: it may be there again in an hour."""


class Bank:
    def __init__(self):
        self.reset()

    def reset(self):
        self.charges = {}  # by idempotency key
        self.calls = []
        self.expired = set()  # whose card is
        self.reachable = True

    def charge(self, member, cents, key):
        self.calls.append((member, cents, key))
        if not self.reachable:
            raise BankUnreachable("no route to the bank")
        if member in self.expired:
            raise CardDeclined(f"the card of {member} has expired")
        self.charges[key] = (member, cents)
        return len(self.charges)


class Post:
    def __init__(self):
        self.reset()

    def reset(self):
        self.letters = []

    def mail(self, member, text):
        self.letters.append(f"{member}: {text}")


bank = Bank()
post = Post()
