"""Two invitations, day by day: one is sent anew and accepted, the other one lapses."""

from datetime import timedelta

from invitation import Base, Invitation, InvitationFlow, State, WrongLink, app
from post import post

from semel.testing import Kit

with Kit(app) as kit:
    with app.session() as session:
        Base.metadata.create_all(session.connection())
        session.commit()
        ann, bob = Invitation(email="ann"), Invitation(email="bob")
        session.add_all([ann, bob])
        session.commit()
    for _ in range(11):
        seen = len(post.letters)
        if kit.clock.now().day == 6:
            InvitationFlow.resend(ann)
        kit.settle()
        for to, text in post.letters[seen:]:
            print(f"{kit.clock.now():%d %b}: {to}: {text.partition('?')[0]}")
        kit.clock.advance(timedelta(days=1))
    first, *_, last = [text.rpartition("=")[2] for to, text in post.letters if to == "ann"]
    try:
        InvitationFlow.accept(ann, first)
    except WrongLink as error:
        print(f"ann, with the first mail: {error}")
    print(f"ann, with the last one: {InvitationFlow.accept(ann, last).state.value}")
    with app.session() as session:
        found = session.get(Invitation, bob.id)
        assert found is not None
        assert found.state is State.LAPSED
        print(f"bob: {found.state.value}")
