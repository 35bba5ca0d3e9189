"""An invitation by mail: it is sent, reminds, lapses, and may be sent anew, revoked or accepted."""

import secrets
from datetime import timedelta
from enum import Enum

from post import post
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from semel import App, Decision, Event, Workflow, cancel, enter, error, expire, on, once, remind, success

app = App("invitations")


class Base(DeclarativeBase):
    pass


class State(Enum):
    INVITED = "invited"
    ACCEPTED = "accepted"
    LAPSED = "lapsed"
    REVOKED = "revoked"


class Invitation(Base):
    __tablename__ = "invitations"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str]
    state: Mapped[State]
    token: Mapped[str | None]


class WrongLink(Decision):
    """The link is not the one that was sent last."""


@app.workflow
class InvitationFlow(Workflow[Invitation], tracks=Invitation.state, initial=State.INVITED, autostart=True):
    accept = Event[str]()
    resend = Event()
    revoke = Event()

    @enter(State.INVITED)
    def send(self) -> None:
        # After the commit that invites, not in it: nobody waits for the mail server, and nothing is sent in vain.
        self.item.token = secrets.token_urlsafe(16)
        once("mail", lambda: post.send(self.item.email, f"you are invited: /accept?token={self.item.token}"))

    @remind(State.INVITED, after=timedelta(days=3), then_every=timedelta(days=2))
    def chase(self) -> None:
        once("mail", lambda: post.send(self.item.email, f"still waiting: /accept?token={self.item.token}"))

    @expire(State.INVITED, after=timedelta(days=7))
    def lapse(self) -> State:
        return State.LAPSED

    @on(resend, State.INVITED)
    def sent_anew(self) -> State:
        return State.INVITED  # entered anew: another link, and its time begins again

    @on(accept, State.INVITED)
    def accepted(self, token: str) -> State:
        if token != self.item.token:
            raise WrongLink("this link is not valid any more; look for a newer mail")
        return State.ACCEPTED

    @on(revoke, State.INVITED)
    def revoked(self) -> State:
        once("mail", lambda: post.send(self.item.email, "the invitation was withdrawn"))
        return State.REVOKED

    joined = success(State.ACCEPTED, "joined")
    lapsed = error(State.LAPSED, "nobody came")
    withdrawn = cancel(State.REVOKED, "withdrawn")
