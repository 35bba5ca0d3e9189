"""Lets a year of a subscription go by, day by day, and prints what happens in it."""

from datetime import timedelta

from services import bank, post
from subscription import app, cancelled, new_card, subscription

from semel.testing import Kit

ANN = "ann@example.org"
with Kit(app) as kit:
    run = app.start(subscription, ANN)
    for day in range(366):
        seen = len(bank.charges), len(post.letters)
        if day == 150:
            bank.expired = {ANN}
        if day == 171:
            bank.expired = set()
            run.send(new_card, "4242")
        if day == 360:
            run.send(cancelled, "moving")
        kit.settle()
        for letter in post.letters[seen[1] :]:
            print(f"{kit.clock.now():%d %b}: {letter.partition(': ')[2]}")
        for _, cents in list(bank.charges.values())[seen[0] :]:
            print(f"{kit.clock.now():%d %b}: charged {cents / 100:.2f}")
        kit.clock.advance(timedelta(days=1))
    print(f"{run.result()}; {len(bank.charges)} charges")
