"""A live session: one duel at a time, with names, and answers at any time."""

from __future__ import annotations

import dataclasses
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from fairduel import learners
from fairduel._arrays import Floats
from fairduel._checks import whole_number
from fairduel._codec import classes_in, decode, encode
from fairduel._files import AnyPath, alone
from fairduel._names import check_names
from fairduel.errors import InputError
from fairduel.inference import estimate_utilities
from fairduel.inference.size import check_size
from fairduel.learners import FairVOI, Learner
from fairduel.learners.learner import check_learner
from fairduel.learners.tournament import Tournament
from fairduel.live import words
from fairduel.live.advice import ENDLESS, Advice, advise, check_wins, find_favourites
from fairduel.live.recommendation import Interval, Recommendation, SessionOutlook
from fairduel.live.storage import (
    Document,
    Journal,
    Storage,
    fingerprint,
    read_document,
    write_document,
)
from fairduel.live.votes import (
    SKIP,
    TIE,
    Asked,
    Duel,
    Event,
    Moved,
    Question,
    Roster,
    Told,
    Voted,
    Votes,
)
from fairduel.offers import Script, check_offer, check_policy, draw_round, next_part
from fairduel.tally import Tally

_DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)


class Session:
    """A learner at work on real votes.

    users, arms: their names. horizon: roughly the number of duels in all, which sets how long
    to explore; None if unknown. learner: default: ``FairVOI()``, or ``FairVOI(anytime=True)``
    without a horizon. seed: the same one issues the same duels again; default: a new one, which
    is kept with the session. features: numbers that describe each arm, a row for each, if there
    are any: answers about one arm then teach about arms like it.

    >>> session = Session(["ann", "bob"], ["pizza", "soup"], seed=1)
    >>> duel = session.ask()
    >>> session.tell(duel, {"ann": duel.left, "bob": "tie"})
    """

    def __init__(
        self,
        users: Sequence[str],
        arms: Sequence[str],
        horizon: int | None = None,
        learner: Learner[Any] | None = None,
        *,
        seed: int | None = None,
        features: Any = None,
    ) -> None:
        users, arms = check_names("user", users), _check_arms(arms)
        self.horizon = None if horizon is None else whole_number("the horizon", horizon)
        if learner is not None and features is not None:
            raise InputError("a learner is given, and features: give the learner its features.")
        self.learner: Learner[Any] = (
            FairVOI(anytime=horizon is None, features=features) if learner is None else learner
        )
        check_learner(self.learner)
        if self.horizon is None and not self.learner.anytime:
            raise InputError(
                f"{type(self.learner).__name__} plans for a number of duels, but no horizon is "
                "given: give one, or use FairVOI(anytime=True)."
            )
        self.seed = secrets.randbits(63) if seed is None else whole_number("the seed", seed, 0)
        self._player = self.learner  # as it is told of those who are present
        self._state = self._begin(self._player, len(users), len(arms))
        self._votes = Votes(users, arms)
        self._advised: tuple[Roster, bytes, Advice] | None = None
        self._storage: Storage | None = None
        self._saved: dict[str, str | None] = {}  # fingerprints of files, as this session knows them

    @classmethod
    def from_votes(
        cls,
        users: Sequence[str],
        arms: Sequence[str],
        wins: Floats,
        horizon: int | None = None,
        learner: Learner[Any] | None = None,
        *,
        seed: int | None = None,
        features: Any = None,
    ) -> Session:
        """Make a session that goes on from votes: user d preferred i to j ``wins[d, i, j]`` times.

        A tie is half a win each.
        """
        session = cls(users, arms, horizon, learner, seed=seed, features=features)
        wins = check_wins(wins, len(session.users), len(session.arms))
        session._votes = Votes(session.users, session.arms, wins)
        nothing = Tally.empty(len(session.users), len(session.arms))
        session._state = session._player.tell(session._state, replace(nothing, wins=wins))
        return session

    @property
    def users(self) -> tuple[str, ...]:
        """The names of the users who are present."""
        return self._votes.roster.present_users

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms that are present."""
        return self._votes.roster.present_arms

    def _begin(self, player: Learner[Any], users: int, arms: int) -> Any:
        check_size(users, arms)
        return player.init(users, arms, self.horizon or ENDLESS, self.seed)

    def __repr__(self) -> str:
        of = "" if self.horizon is None else f" of {self.horizon:,}"
        return (
            f"Session({len(self.users)} users, {len(self.arms)} arms, {self.rounds:,}{of} duels, "
            f"{type(self.learner).__name__})"
        )

    # Duels and answers

    @property
    def rounds(self) -> int:
        """The number of duels issued."""
        return len(self._votes)

    def ask(self) -> Duel:
        """Issue the next duel. It counts as played from now on, answered or not."""
        play, state = self._player.ask(self._state)
        check_offer(play, len(self.arms), self.learner)
        if isinstance(play, Script):  # its first rounds have a policy, which is known now
            play = next_part(play, len(self.users))
            check_offer(play, len(self.arms), self.learner)
        rng = np.random.default_rng([self.seed, 2, self.rounds])
        shown = draw_round(play, len(self.users), rng)
        left, right = self.arms[shown.left], self.arms[shown.right]
        asked = Asked(self.rounds + 1, left, right, shown.listen)
        self._happens(asked, state)
        return self.duel(asked.id)

    def tell(
        self, duel: Duel | int, answers: Mapping[str, str | None], *, change: bool = False
    ) -> None:
        """Record answers to a duel or its id: for each user an arm, "tie", or "skip" or None.

        They may come late, in any order and in pieces. The same answer told again changes
        nothing; a user who skipped may answer later; any other change of mind is an error, unless
        ``change`` is given: "skip" then takes an answer back. An error changes nothing, not even
        for the other users in the call.
        """
        told = self._votes.news(self._id(duel), answers, change)
        if told.answers:
            self._happens(told, self._state)

    def question(self, user: str) -> Question | None:
        """Return the two arms about which this user's answer is worth most; None if none are left.

        Each pair is asked once. Nothing is chosen for anybody meanwhile, so asking costs only
        time. Asked again before anybody has answered, it returns the same.
        """
        user = self._votes.check_user(user)
        if user not in self.users:
            raise InputError(f"{user!r} has left: add the user again to ask.")
        d, said = self.users.index(user), self._votes.said(user)
        worth = self._advice().worth[d]
        pairs = [
            (worth[i, j], first, second)
            for i, first in enumerate(self.arms)
            for j, second in enumerate(self.arms[:i])
            if (min(first, second), max(first, second)) not in said
        ]
        if not pairs:
            return None
        _, left, right = max(pairs, key=lambda pair: pair[0])
        if np.random.default_rng([self.seed, 5, d, len(said)]).random() < 0.5:
            left, right = right, left
        return Question(user, left, right)

    def vote(self, user: str, left: str, right: str, answer: str | None) -> None:
        """Record what a user says about two arms, asked or not: an arm, "tie" or "skip".

        The last answer about a pair counts; None takes it back, so that the pair is asked again.
        """
        voted = self._votes.vote(user, left, right, answer)
        if voted is not None:
            self._happens(voted, self._state)

    def add_user(self, name: str) -> None:
        """Let a user join, or come back with the answers given before."""
        self._move("user", name, True)

    def remove_user(self, name: str) -> None:
        """Let a user leave: from now on nothing is chosen for their sake."""
        self._move("user", name, False)

    def add_arm(self, name: str) -> None:
        """Add an arm, or take one in again with the answers about it."""
        _check_arms([name])
        self._move("arm", name, True)

    def remove_arm(self, name: str) -> None:
        """Take an arm out: it is neither chosen nor asked about any more."""
        self._move("arm", name, False)

    def _move(self, kind: Literal["user", "arm"], name: str, present: bool) -> None:
        moved = self._votes.move(kind, name, present)
        if moved is not None:
            self._happens(moved, self._state)

    def duel(self, id: int) -> Duel:
        """Return a duel that was issued before."""
        return self._votes.duel(id)

    def unanswered(self, user: str) -> list[Duel]:
        """Return the duels that wait for a user's vote, oldest first."""
        return self._votes.unanswered(user)

    def _happens(self, event: Event, state: Any) -> None:
        """Tell the learner, keep the event, and only then count it: an error changes nothing."""
        player = self._player
        if isinstance(event, Moved):
            player, state = self._begin_again(event)
        else:
            tally = self._votes.tally_of(event)
            if (tally.wins < 0.0).any():
                player, state = self._begin_again(event)
            elif isinstance(event, Asked) or (self._heard(event) and tally.wins.any()):
                state = player.tell(state, self._votes.roster.restrict(tally))
        if self._storage is not None:
            self._storage.append(event)
        self._votes.add(event)
        self._player, self._state = player, state

    def _heard(self, event: Told | Voted) -> bool:
        """Whether the learner wants these answers."""
        return isinstance(event, Voted) or self._votes.asked(event.id).listen

    def _begin_again(self, event: Event) -> tuple[Learner[Any], Any]:
        """Return a learner that begins after an event with all that was said, and its state."""
        if not self.learner.from_sums:
            raise InputError(
                f"{type(self.learner).__name__} learns in phases, so that answers stand, and users "
                "and arms stay: use FairVOI."
            )
        assert not isinstance(event, Asked)
        roster, tally = self._votes.heard_after(event)
        if isinstance(event, Moved):
            self._check_weights(len(roster.present_users))
        player = _told_of_those_present(self.learner, roster)
        state = self._begin(player, len(roster.present_users), len(roster.present_arms))
        return player, player.tell(state, tally)

    def _check_weights(self, users: int) -> None:
        """Refuse other users than those that the welfare has weights for."""
        try:
            self.learner.welfare.compiled(users)
        except InputError as error:
            raise InputError(
                f"the welfare weighs {len(self.users)} users, so that nobody can join or leave: "
                "make a session of those who are to be there from the votes, by "
                "Session.from_votes, with a learner whose welfare has a weight for each."
            ) from error

    def _advice(self) -> Advice:
        """Return what all votes say now, worked out once."""
        votes = self._votes
        wins = votes.roster.restrict(votes.tally).wins
        key = wins.tobytes()
        if self._advised is None or self._advised[:2] != (votes.roster, key):
            features = self._player.features
            advice = advise(
                wins,
                welfare=self._player.welfare,
                winners=self._player.winners,
                scoring=self._player.scoring,
                features=None if features is None else np.array(features),
                seed=self.seed,
            )
            self._advised = (votes.roster, key, advice)
        return self._advised[2]

    def _id(self, duel: Duel | int) -> int:
        if not isinstance(duel, Duel):
            return int(duel) if isinstance(duel, np.integer) else duel
        if self.duel(duel.id) != duel:
            raise InputError(
                f"{duel} is not of this session, where duel {duel.id} is {self.duel(duel.id)}: "
                "tell the session that asked."
            )
        return duel.id

    # What to choose

    def recommend(self) -> Recommendation:
        """Return the policy to follow now, and what each user gets from it, by all answers.

        The policy is the learner's, or once anybody has voted outside duels, ``advise``'s.
        """
        return Recommendation(**self._recommended())

    def outlook(self) -> SessionOutlook:
        """Return the same, and whether to go on asking; for learners that explain themselves."""
        shown = self._shown()
        outlook = self._advice().outlook if self._own else self._player.outlook(self._state)
        return SessionOutlook(
            **self._recommended(),
            share=Interval(outlook.share, outlook.low, outlook.high),
            ten_more=outlook.ten_more,
            why=self._why(shown),
        )

    def _why(self, shown: tuple[int, int] | None) -> str:
        """Say why the last duel was chosen; "" where all votes were given outside duels."""
        if self._own and not self.rounds:
            return ""
        return words.why(self._player.rationale(self._state, shown), self.arms)

    @property
    def _own(self) -> bool:
        """Whether anybody has voted outside duels."""
        return bool(self._votes.voted) or self._votes.before is not None

    def _shown(self) -> tuple[int, int] | None:
        """Return the arms of the last duel, by number, if they are still there."""
        if not self.rounds:
            return None
        duel = self.duel(self.rounds)
        if not {duel.left, duel.right} <= set(self.arms):
            return None
        return self.arms.index(duel.left), self.arms.index(duel.right)

    def _recommended(self) -> dict[str, Any]:
        """Return the fields of a recommendation, by name of user and arm."""
        if self._own:
            advice = self._advice()
            policy, seen, favourites = advice.policy, advice.estimates, advice.favourites
        else:
            policy = self._player.policy(self._state)
            check_policy(policy, len(self.arms), self.learner)
            tally = self._votes.roster.restrict(self._votes.tally)
            rng = np.random.default_rng([self.seed, 3, self.rounds])
            posterior = self._player.posterior(tally)
            seen = estimate_utilities(posterior, policy, posterior.sample(rng))
            favourites = find_favourites(seen, tally.wins, self._player.winners)
        names = [None if k < 0 else self.arms[k] for k in favourites.tolist()]
        figures = zip(seen.utilities.tolist(), seen.low.tolist(), seen.high.tolist(), strict=True)
        return {
            "policy": dict(zip(self.arms, policy.tolist(), strict=True)),
            "utilities": {u: Interval(*f) for u, f in zip(self.users, figures, strict=True)},
            "favourites": dict(zip(self.users, names, strict=True)),
            "without_winner": tuple(self.users[d] for d in seen.without_winner),
        }

    # Files

    def save(self, path: AnyPath) -> None:
        """Write everything to one JSON file, whole or not at all.

        A file that this session was loaded from or saved to before, and that another process has
        changed since, is left alone, with an error.
        """
        place = _place(path)
        with alone(place):
            if place in self._saved and fingerprint(place) not in (None, self._saved[place]):
                raise InputError(
                    f"cannot save to {os.fspath(path)!r}: another process has changed it since "
                    "this session was loaded or saved: load it again, or give another name."
                )
            write_document(path, self._document())
            self._saved[place] = fingerprint(place)

    @classmethod
    def load(cls, path: AnyPath, learner: Learner[Any] | None = None) -> Session:
        """Restore a session from a file of ``save``, as if it had never stopped.

        A learner that is not the package's own must be given, with the settings it had.
        """
        seen = fingerprint(path)  # first: what changes from now on is noticed
        document = read_document(path)
        with _errors_prefixed(f"cannot load {os.fspath(path)!r}"):
            session = cls._restore(document, learner)
        session._saved[_place(path)] = seen
        return session

    def keep(self, storage: Storage | AnyPath) -> None:
        """Store the session as it is, and from now on every duel and answer as it comes.

        The cost of one more does not grow with the number before. storage: the name of a new
        journal, or a storage.
        """
        storage = _as_storage(storage)
        storage.begin(self._document())
        self._storage = storage

    @classmethod
    def resume(cls, storage: Storage | AnyPath, learner: Learner[Any] | None = None) -> Session:
        """Restore a session from what ``keep`` stored, and go on storing there.

        A learner that is not the package's own must be given, with the settings it had.
        """
        storage = _as_storage(storage)
        document, events = storage.read()
        with _errors_prefixed(f"cannot resume from {storage}"):
            session = cls._restore(document, learner)
            for event in events:
                session._replay(event)
        session._storage = storage
        return session

    def _document(self) -> Document:
        votes, roster = self._votes, self._votes.roster
        more: Document = {}  # what most sessions do not have
        if roster.gone_users or roster.gone_arms or votes.settled:
            more["gone"] = {
                "users": [name for name in roster.users if name in roster.gone_users],
                "arms": [name for name in roster.arms if name in roster.gone_arms],
                "settled": votes.settled,
            }
        if votes.settled:
            more["moves"] = votes.moves()
        if votes.before is not None:
            more["before"] = encode(votes.before)
        if votes.voted:
            more["votes"] = [[*key, answer] for key, answer in votes.voted.items()]
        return {
            "users": list(roster.users),
            "arms": list(roster.arms),
            "horizon": self.horizon,
            "seed": self.seed,
            "duels": votes.records(),
            **more,
            "learner": encode(self.learner),
            "state": encode(self._state),
        }

    @classmethod
    def _restore(cls, data: Document, learner: Learner[Any] | None) -> Session:
        if learner is None:
            learner = decode(data["learner"], _settings())
        elif encode(learner) != data["learner"]:
            raise InputError("it was made with another learner or other settings: give the same.")
        users = check_names("user", data["users"])
        first = users[: len(learner.winners or users)]  # who came later has no known winner
        session = cls(first, data["arms"], data["horizon"], learner, seed=data["seed"])
        state = decode(data["state"], classes_in(type(session._state)))
        if type(state) is not type(session._state):
            raise InputError("its state is not that of its learner: use an earlier copy.")
        votes = _votes_in(data)
        if votes.roster != session._votes.roster:
            session._player = _told_of_those_present(learner, votes.roster)
        session._votes = votes
        nothing = Tally.empty(len(session.users), len(session.arms))
        session._state = session._player.tell(state, nothing)  # fails if it does not fit
        return session

    def _replay(self, event: Event) -> None:
        """Replay an event. What was shown is in the event, and is not drawn again."""
        if isinstance(event, Told):
            self.tell(event.id, event.answers, change=True)
        elif not isinstance(event, Asked):
            self._happens(event, self._state)
        elif event.id != self.rounds + 1:
            raise InputError(f"duel {event.id!r} follows duel {self.rounds}: use an earlier copy.")
        else:
            self._happens(event, self._player.ask(self._state)[1])


def _votes_in(data: Document) -> Votes:
    """Return the votes that a document holds."""
    before = data.get("before")
    votes = Votes(data["users"], data["arms"], None if before is None else decode(before, []))
    for vote in data.get("votes", []):
        votes.add(Voted(*vote))
    for id, record in enumerate(data["duels"], 1):
        votes.add(Asked(id, record["left"], record["right"], bool(record["listen"])))
        votes.add(votes.news(id, record["answers"]))
    votes.leave(**data.get("gone", {}), moves=data.get("moves"))
    return votes


@contextmanager
def _errors_prefixed(what: str) -> Iterator[None]:
    """Prefix errors of restoring with where the data came from."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{what}: {error}") from error
    except _DAMAGE as error:
        raise InputError(f"{what}: it is damaged ({error}): use an earlier copy.") from error


def _place(path: AnyPath) -> str:
    """Return where a file is; "" for what is no name, of which writing and reading complain."""
    try:
        return os.path.realpath(path)
    except (TypeError, ValueError):
        return ""


def _as_storage(place: Storage | AnyPath) -> Storage:
    if not isinstance(place, Storage | str | os.PathLike):
        raise InputError(f"the storage is {place!r}: give the name of a journal, or a storage.")
    return place if isinstance(place, Storage) else Journal(place)


def _settings() -> list[type]:
    """Return the classes of settings in a file: the package's own learners and welfares."""

    from fairduel.welfare.registry import by_name

    public = (getattr(learners, name) for name in learners.__all__)
    known = [cls for cls in public if isinstance(cls, type) and dataclasses.is_dataclass(cls)]
    return [*known, *by_name().values(), Tournament]


def _check_arms(arms: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the arms if none can be mistaken for an answer that is no arm."""
    names = check_names("arm", arms)
    for name in names:
        if name.casefold() in (TIE, SKIP):
            raise InputError(
                f"an arm is called {name!r}, but {name.casefold()!r} is an answer of its own: "
                "give the arm another name."
            )
    return names


def _told_of_those_present(learner: Learner[Any], roster: Roster) -> Learner[Any]:
    """Return the learner with what it was given of users and arms, for those who are present.

    It was given it for those who were there first: users who came later have no known winner, and
    a winner that is gone is not known.
    """
    changes: dict[str, Any] = {}
    if learner.winners is not None:
        known = dict(zip(roster.users, learner.winners, strict=False))
        place = {roster.arms.index(name): k for k, name in enumerate(roster.present_arms)}
        first = [known.get(user) for user in roster.present_users]
        changes["winners"] = tuple(None if w is None else place.get(w) for w in first)
    if learner.features is not None:
        described = dict(zip(roster.arms, learner.features, strict=False))
        for arm in roster.present_arms:
            if arm not in described:
                raise InputError(
                    f"{arm!r} has no features, and the other arms have: make a session of all "
                    "arms with their features from the votes, by Session.from_votes."
                )
        changes["features"] = tuple(described[arm] for arm in roster.present_arms)
    if not changes:
        return learner
    given: Any = learner
    found: Learner[Any] = dataclasses.replace(given, **changes)
    return found
