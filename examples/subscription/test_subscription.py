"""Months and years of a subscription, tested in no time. Run it with ``pytest``."""

from datetime import timedelta

import pytest
from services import bank, post
from subscription import app, cancelled, new_card, subscription

from semel.testing import crash_everywhere

DAY = timedelta(days=1)
ANN = "ann@example.org"


def reset():
    bank.reset()
    post.reset()


@pytest.fixture
def kit(semel_kit):
    reset()
    return semel_kit(app)


def letters():
    return [letter.partition(": ")[2] for letter in post.letters]


def test_a_year(kit):
    run = app.start(subscription, ANN)
    assert kit.advance(365 * DAY, run) == "parked"
    assert list(bank.charges.values()) == [(ANN, 900)] * 12
    assert letters() == [
        "welcome, your trial is two weeks",
        "your trial ends in three days",
        "your first month begins",
    ]


def test_a_trial_that_is_cancelled_costs_nothing(kit):
    run = app.start(subscription, ANN)
    kit.advance(12 * DAY)
    run.send(cancelled, "too dear")
    assert kit.settle(run) == "completed"
    assert run.result() == "cancelled in month 0: too dear"
    assert bank.calls == []


def test_a_bank_that_is_not_there_is_asked_again_and_charges_once(kit):
    run = app.start(subscription, ANN)
    bank.reachable = False
    kit.advance(14 * DAY + timedelta(hours=5))
    assert len(bank.calls) == 3  # after 0, 1 and 3 hours
    bank.reachable = True
    assert kit.advance(timedelta(hours=2), run) == "parked"
    assert len(bank.charges) == 1
    assert len({key for _, _, key in bank.calls}) == 1


def test_another_card_is_charged_when_it_is_given(kit):
    run = app.start(subscription, ANN)
    bank.expired = {ANN}
    kit.advance(20 * DAY)
    assert letters()[3:] == [f"the card of {ANN} has expired, please give us another one"] * 2
    bank.expired = set()
    run.send(new_card, "4242")
    assert kit.settle(run) == "parked"
    assert len(bank.charges) == 1


def test_a_subscription_without_a_card_lapses(kit):
    bank.expired = {ANN}
    run = app.start(subscription, ANN)
    assert kit.finish(run) == "completed"
    assert run.result() == "lapsed in month 1"
    assert letters()[-1] == "we could not charge your card, and have ended your subscription"


def test_it_ends_the_same_wherever_a_worker_dies():
    def some_months(kit, run):
        kit.advance(20 * DAY)  # the trial, and the first charge
        bank.expired = {ANN}
        kit.advance(30 * DAY)  # the second one is declined
        bank.expired = set()
        run.send(new_card, "4242")
        kit.advance(30 * DAY)
        run.send(cancelled, "moving")
        kit.settle()

    crash_everywhere(
        app,
        lambda: app.start(subscription, ANN),
        drive=some_months,
        observe=lambda run: bank.charges,  # by idempotency key: what the bank has really done
        calls=lambda run: post.letters,  # have no key: one may come twice, where the run says so
        reset=reset,
    )
