"""What becomes of an invitation, with the clock in the test's hand. Run it with ``pytest``."""

from datetime import timedelta

import pytest
from invitation import Base, Invitation, InvitationFlow, State, WrongLink, app
from post import post

from semel.errors import EventNotTaken, RunCancelled, WorkflowFailed

DAY = timedelta(days=1)


@pytest.fixture
def kit(semel_kit):
    post.letters.clear()
    kit = semel_kit(app)
    with app.session() as session:
        Base.metadata.create_all(session.connection())
        session.commit()
    return kit


@pytest.fixture
def ann(kit):
    with app.session() as session:
        invitation = Invitation(email="ann")
        session.add(invitation)
        session.commit()
    return invitation


def state(invitation):
    with app.session() as session:
        return session.get(Invitation, invitation.id).state


def token():
    return post.letters[-1][1].rpartition("=")[2]


def test_the_mail_goes_out_after_the_commit_and_not_in_it(kit):
    with app.session() as session:
        session.add(Invitation(email="nobody"))
        session.flush()
        session.rollback()
    kit.settle()
    assert post.letters == []


def test_it_reminds_after_three_days_and_then_every_two_and_lapses_after_seven(kit, ann):
    days = []
    for _ in range(9):
        kit.settle()
        days.append(len(post.letters))
        kit.advance(DAY)
    assert days == [1, 1, 1, 2, 2, 3, 3, 3, 3]
    assert state(ann) is State.LAPSED
    with pytest.raises(WorkflowFailed, match="nobody came"):
        InvitationFlow.run_of(ann).result()
    with pytest.raises(EventNotTaken):
        InvitationFlow.accept(ann, token())


def test_sent_anew_the_old_link_dies_and_its_time_starts_over(kit, ann):
    kit.advance(6 * DAY)
    old = token()
    InvitationFlow.resend(ann)
    kit.settle()
    assert token() != old
    kit.advance(6 * DAY)
    with pytest.raises(WrongLink):
        InvitationFlow.accept(ann, old)
    assert state(ann) is State.INVITED
    assert InvitationFlow.accept(ann, token()).state is State.ACCEPTED
    assert InvitationFlow.run_of(ann).result() == "joined"


def test_withdrawn_it_cannot_be_accepted(kit, ann):
    kit.settle()
    link = token()
    InvitationFlow.revoke(ann)
    with pytest.raises(EventNotTaken):
        InvitationFlow.accept(ann, link)
    with pytest.raises(RunCancelled):
        InvitationFlow.run_of(ann).result()
    assert post.letters[-1] == ("ann", "the invitation was withdrawn")


@pytest.mark.parametrize("point", ["step.before", "step.recorded", "body.before_commit"])
def test_a_worker_that_dies_sends_one_mail_with_the_link_that_is_valid(kit, ann, point):
    kit.crash(point)
    kit.settle()
    assert len(post.letters) == 1
    assert InvitationFlow.accept(ann, token()).state is State.ACCEPTED
