"""A subscription: a trial, then a charge each month, until it is cancelled or the card stays empty.

One run is one member, for years. One visit of the body is one period: ``app.again`` starts the next one.
"""

from datetime import timedelta

from services import CardDeclined, bank, post

from semel import App, Backoff, Event, once, wait_for
from semel.errors import WaitTimedOut

app = App("subscriptions")
cancelled = Event[str]("cancelled", str)
new_card = Event[str]("new card", str)

PRICE = 900  # cents a month
OUTAGE = Backoff.exponential(timedelta(hours=1)).max_attempts(6)  # of the bank: 1, 2, 4, 8, 16 hours
DUNNING = 3  # charges that may be declined, five days apart


@app.workflow
def subscription(member: str, month: int = 0) -> str:
    if month == 0:
        once("welcome", lambda: post.mail(member, "welcome, your trial is two weeks"))
        periods = [(11, "your trial ends in three days"), (3, "your first month begins")]
    elif collect(member):
        periods = [(30, "")]
    else:
        once("end", lambda: post.mail(member, "we could not charge your card, and have ended your subscription"))
        return f"lapsed in month {month}"

    for days, letter in periods:
        try:
            reason = wait_for(cancelled, timeout=timedelta(days=days))
        except WaitTimedOut:
            if letter:
                remind(member, letter)
        else:
            once("goodbye", lambda: post.mail(member, "goodbye"))
            return f"cancelled in month {month}: {reason}"
    return app.again(member, month + 1)


def remind(member: str, text: str) -> None:
    once("remind", lambda: post.mail(member, text))


def collect(member: str) -> bool:
    """Charges for a month; asks for another card where the bank declines this one."""
    for _ in range(DUNNING):
        try:
            once("charge", lambda key: bank.charge(member, PRICE, key), retry=OUTAGE)
            return True
        except CardDeclined as declined:
            remind(member, f"{declined}, please give us another one")
        try:
            wait_for(new_card, timeout=timedelta(days=5))
        except WaitTimedOut:
            continue
    return False
