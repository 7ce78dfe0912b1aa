"""Live use: one duel at a time, with names, and answers that come when they come."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairduel._codec import classes_in, decode, encode
from fairduel._files import AnyPath, read_whole, write_whole
from fairduel.errors import InputError
from fairduel.inference import estimate_utilities, infer
from fairduel.learners import FairEpsilonGreedy, FairETC, FairVOI, Learner, UniformOverUsers
from fairduel.learners.learner import Rationale, check_learner
from fairduel.learners.tournament import Tournament
from fairduel.offers import draw_round
from fairduel.tally import Tally
from fairduel.welfare import Egalitarian, FrankWolfe, Nash, Utilitarian

TIE = "tie"
SKIP = "skip"

_FORMAT = "fairduel session"
_VERSION = 1
_ENDLESS = 10**15  # the horizon for learners that do not look at it
# What the settings in a session file may be made of.
_SETTINGS = (
    FairVOI,
    FairETC,
    FairEpsilonGreedy,
    UniformOverUsers,
    Tournament,
    Nash,
    FrankWolfe,
    Utilitarian,
    Egalitarian,
)


@dataclass(frozen=True)
class Duel:
    """Two arms to show. ``vote`` is False where the answers would teach the learner nothing."""

    id: int
    left: str
    right: str
    vote: bool


@dataclass(frozen=True)
class Interval:
    """A figure and the interval that holds it with probability 95 %, given the answers."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Recommendation:
    """How often to choose each arm, and what each user gets by it.

    utilities: 1 is a user's own favourite all the time. favourites: the arm that utilities are
    relative to: the user's winner if it is known, else the likeliest to beat all others given the
    answers; None as long as a user has preferred nothing to anything. without_winner: users for
    whom that arm loses to some other almost surely, so that they have no clear favourite.
    """

    policy: dict[str, float]
    utilities: dict[str, Interval]
    favourites: dict[str, str | None]
    without_winner: tuple[str, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence about everybody whose favourite is not clear or not known."""
        said = []
        for user, arm in self.favourites.items():
            if arm is None:
                said.append(f"Nothing is known yet about what {user} likes.")
            elif user in self.without_winner:
                said.append(
                    f"{user} has no clear favourite, since none beats all others: "
                    f"{arm} is taken for it."
                )
        return tuple(said)


@dataclass(frozen=True)
class Standing(Recommendation):
    """How far a session has come.

    near_best: the probability that the present policy's welfare is within 1 % of the best.
    duels_worth_asking: about how many more duels are worth playing for their answers. 0 means
    that it is time to stop asking: not that the policy is surely the best, but that more answers
    would cost more than they bring in the duels to come. why: why the last pair was chosen.
    """

    near_best: float
    duels_worth_asking: int
    why: str


@dataclass
class _Issued:
    """A duel and its answers so far: each user's winner, "tie" or "skip"."""

    left: int
    right: int
    listen: bool
    answers: dict[str, str] = field(default_factory=dict)


class Session:
    """A learner at work on real votes.

    users, arms: their names. horizon: how many duels there will be in all, roughly; it sets how
    long to explore. None stands for: nobody knows. learner: ``FairVOI()`` unless another is
    given, or ``FairVOI(anytime=True)`` where nobody knows the horizon. seed: for the same duels
    again; drawn afresh where it is left out, and kept in the file.

    >>> session = Session(["ann", "bob"], ["pizza", "soup"], seed=1)
    >>> duel = session.ask()
    >>> session.tell(duel.id, {"ann": duel.left, "bob": "tie"})
    """

    def __init__(
        self,
        users: Sequence[str],
        arms: Sequence[str],
        horizon: int | None = None,
        learner: Learner[Any] | None = None,
        seed: int | None = None,
    ) -> None:
        self.users = _check_names(users, "user", ())
        self.arms = _check_names(arms, "arm", (TIE, SKIP))
        self.horizon = None if horizon is None else _check_number("horizon", horizon, least=1)
        self.learner: Learner[Any] = (
            FairVOI(anytime=horizon is None) if learner is None else learner
        )
        check_learner(self.learner)
        if self.horizon is None and not self.learner.anytime:
            raise InputError(
                f"{type(self.learner).__name__} plans for a number of duels and no horizon is "
                "given: give one, or use FairVOI(anytime=True)."
            )
        self.seed = secrets.randbits(63) if seed is None else _check_number("seed", seed, least=0)
        self._state = self.learner.init(
            len(self.users), len(self.arms), self.horizon or _ENDLESS, self.seed
        )
        self._issued: list[_Issued] = []
        self._tally = Tally.empty(len(self.users), len(self.arms))

    @property
    def rounds(self) -> int:
        """How many duels were issued."""
        return len(self._issued)

    def ask(self) -> Duel:
        """The next duel. It counts as played from now on, whether or not it is answered."""
        play, state = self.learner.ask(self._state)
        rng = np.random.default_rng([self.seed, 2, self.rounds])
        shown = draw_round(play, len(self.users), rng)
        played = self._empty_tally()
        played.plays[shown.left, shown.right] = 1
        self._state = self.learner.tell(state, played)
        self._tally = self._tally + played
        self._issued.append(_Issued(shown.left, shown.right, shown.listen))
        return self.duel(self.rounds)

    def duel(self, id: int) -> Duel:
        """A duel that was issued before."""
        issued = self._find(id)
        vote = issued.listen and issued.left != issued.right
        return Duel(id, self.arms[issued.left], self.arms[issued.right], vote)

    def unanswered(self, user: str) -> list[Duel]:
        """The duels that wait for a user's vote, oldest first."""
        if user not in self.users:
            raise InputError(f"{user!r} is not a user here: the users are {_list(self.users)}.")
        duels = [self.duel(id) for id in range(1, self.rounds + 1)]
        return [d for d in duels if d.vote and user not in self._issued[d.id - 1].answers]

    def tell(self, id: int, answers: Mapping[str, str | None]) -> None:
        """Answers to a duel: for each user the arm preferred, "tie", or "skip" (also None).

        They may come late, in any order and in pieces. The same answer told again changes
        nothing; whoever skipped may answer after all; any other change of mind is an error.
        An error changes nothing, not even for the other users in the call.
        """
        issued = self._find(id)
        if not isinstance(answers, Mapping):
            raise InputError(f"the answers are {answers!r}: give {{user: answer}}.")
        new = {
            user: self._check_answer(id, issued, user, answer) for user, answer in answers.items()
        }
        told = self._empty_tally()
        for user, answer in new.items():
            if issued.answers.get(user, SKIP) != answer:
                self._count(told, issued, user, answer)
        if issued.listen and told.wins.any():
            self._state = self.learner.tell(self._state, told)
        self._tally = self._tally + told
        issued.answers.update(new)

    def policy(self) -> Recommendation:
        """What to choose now, by the learner; and what each user gets, by all their answers."""
        return Recommendation(**self._recommended())

    def outlook(self) -> Standing:
        """The same, and whether it is worth asking on; for learners that can tell."""
        seen = self.learner.outlook(self._state)
        last = self._issued[-1] if self._issued else None
        shown = None if last is None else (last.left, last.right)
        rationale = self.learner.rationale(self._state, shown)
        return Standing(
            **self._recommended(),
            near_best=seen.near_best,
            duels_worth_asking=seen.duels_worth_asking,
            why="" if rationale is None else _why(rationale, self.arms),
        )

    def _recommended(self) -> dict[str, Any]:
        """The fields of a recommendation, with everybody's names."""
        policy = self.learner.policy(self._state)
        wins = self._tally.wins
        known = self.learner.winners
        rng = np.random.default_rng([self.seed, 3, self.rounds])
        posterior = infer(wins, known)
        seen = estimate_utilities(posterior, policy, posterior.sample(rng))
        silent = (wins == wins.transpose(0, 2, 1)).all(axis=(1, 2))
        if len(self.arms) == 1:
            silent[:] = False
        if known is not None:
            silent &= np.array([winner is None for winner in known])
        favourites = [
            None if quiet else self.arms[k]
            for k, quiet in zip(seen.references.tolist(), silent.tolist(), strict=True)
        ]
        figures = zip(seen.utilities.tolist(), seen.low.tolist(), seen.high.tolist(), strict=True)
        return {
            "policy": dict(zip(self.arms, policy.tolist(), strict=True)),
            "utilities": {u: Interval(*f) for u, f in zip(self.users, figures, strict=True)},
            "favourites": dict(zip(self.users, favourites, strict=True)),
            "without_winner": tuple(self.users[d] for d in seen.without_winner),
        }

    def save(self, path: AnyPath) -> None:
        """Write everything to one JSON file, whole or not at all."""
        data = {
            "format": _FORMAT,
            "version": _VERSION,
            "users": list(self.users),
            "arms": list(self.arms),
            "horizon": self.horizon,
            "seed": self.seed,
            "duels": [self._record(issued) for issued in self._issued],
            "learner": encode(self.learner),
            "state": encode(self._state),
        }
        data["checksum"] = _checksum(data)
        write_whole(path, _readable(data).encode())

    @classmethod
    def load(cls, path: AnyPath, learner: Learner[Any] | None = None) -> Session:
        """Go on from a file, just as if the session had never stopped.

        A learner that is not the package's own must be given, with the settings it had.
        """
        data = _parse(path)
        try:
            return cls._restore(data, learner)
        except InputError as error:
            raise InputError(f"cannot load {os.fspath(path)!r}: {error}") from error
        except (
            KeyError,
            TypeError,
            ValueError,
            IndexError,
            AttributeError,
            ArithmeticError,
        ) as error:
            raise InputError(
                f"cannot load {os.fspath(path)!r}: it is damaged ({error}); use an earlier copy."
            ) from error

    @classmethod
    def _restore(cls, data: dict[str, Any], learner: Learner[Any] | None) -> Session:
        if learner is None:
            learner = decode(data["learner"], _SETTINGS)
        elif encode(learner) != data["learner"]:
            raise InputError("it was made with another learner or other settings; give the same.")
        session = cls(data["users"], data["arms"], data["horizon"], learner, data["seed"])
        state = decode(data["state"], classes_in(type(session._state)))
        if type(state) is not type(session._state):
            raise InputError("its state is not that of its learner; use an earlier copy.")
        for record in data["duels"]:
            session._replay(record)
        session._state = learner.tell(state, session._empty_tally())  # fails if it does not fit
        return session

    def _record(self, issued: _Issued) -> dict[str, Any]:
        return {
            "left": self.arms[issued.left],
            "right": self.arms[issued.right],
            "listen": issued.listen,
            "answers": issued.answers,
        }

    def _replay(self, record: dict[str, Any]) -> None:
        """Take a duel and its answers from a file; the learner's state comes separately."""
        left, right = self.arms.index(record["left"]), self.arms.index(record["right"])
        issued = _Issued(left, right, bool(record["listen"]))
        self._issued.append(issued)
        self._tally.plays[left, right] += 1
        for user, answer in record["answers"].items():
            issued.answers[user] = self._check_answer(self.rounds, issued, user, answer)
            self._count(self._tally, issued, user, answer)

    def _check_answer(self, id: int, issued: _Issued, user: str, answer: str | None) -> str:
        """An answer that this user may give to this duel now."""
        if user not in self.users:
            raise InputError(f"{user!r} is not a user here: the users are {_list(self.users)}.")
        answer = SKIP if answer is None else answer
        allowed = (self.arms[issued.left], self.arms[issued.right], TIE, SKIP)
        if answer not in allowed:
            raise InputError(
                f"{user!r} answers {answer!r} to duel {id}: the answers are {_list(allowed)}."
            )
        before = issued.answers.get(user, SKIP)
        if before not in (SKIP, answer):
            raise InputError(
                f"{user!r} answers {answer!r} to duel {id} but has answered {before!r} before: "
                "an answer stands once it is given."
            )
        return answer

    def _count(self, tally: Tally, issued: _Issued, user: str, answer: str) -> None:
        """Add an answer to a tally; a tie is half a win each."""
        i, j = issued.left, issued.right
        if i == j or answer == SKIP:
            return
        d = self.users.index(user)
        share = 0.5 if answer == TIE else float(answer == self.arms[i])
        tally.wins[d, i, j] += share
        tally.wins[d, j, i] += 1.0 - share

    def _find(self, id: int) -> _Issued:
        if isinstance(id, bool) or not isinstance(id, int) or not 1 <= id <= self.rounds:
            known = f"the duels are 1 to {self.rounds}" if self.rounds else "none was issued yet"
            raise InputError(f"there is no duel {id!r}: {known}.")
        return self._issued[id - 1]

    def _empty_tally(self) -> Tally:
        return Tally.empty(len(self.users), len(self.arms))


def _why(rationale: Rationale, arms: Sequence[str]) -> str:
    if rationale.kind == "nothing-asked":
        return "Nothing has been asked yet."
    if rationale.kind == "exploit":
        return "Both were drawn from the present policy: no answers are worth asking for at a cost."
    if rationale.pair is None:
        return "Both are the same, or were drawn along with pairs that are worth asking about."
    first, second = (arms[k] for k in rationale.pair)
    winner = rationale.kind == "winner"
    about = "what somebody's favourite is" if winner else "how good they are"
    these = "this round" if rationale.rounds == 1 else f"{rationale.rounds:,} rounds"
    return (
        f"To learn {about}: in rounds of the present policy, the answers of {these} bring "
        f"{_rounds(rationale.gain)} in the time to come and cost {_rounds(rationale.cost)}; "
        f"{rationale.share:.0%} of what they bring is for votes on {first} and {second}."
    )


def _rounds(number: float) -> str:
    return f"{number:,.0f}" if number >= 10.0 or number < 0.005 else f"{number:.2g}"


def _check_number(what: str, number: object, least: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
        raise InputError(f"the {what} is {number!r}: give a whole number from {least} up.")
    return int(number)


def _check_names(names: Sequence[str], kind: str, reserved: tuple[str, ...]) -> tuple[str, ...]:
    """Names that tell everybody apart."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"the {kind}s are {names!r}: give a list of names.")
    names = tuple(names)
    if not names:
        raise InputError(f"no {kind}s are given: name at least one.")
    for name in names:
        if not isinstance(name, str) or not name.strip() or not _is_text(name):
            raise InputError(f"{name!r} names no {kind}: use a string that people can read.")
        if name in reserved:
            raise InputError(f"{name!r} cannot be the name of an {kind}: it is an answer already.")
        if names.count(name) > 1:
            raise InputError(f"two {kind}s are called {name!r}: tell them apart.")
    return names


def _is_text(name: str) -> bool:
    """Whether a name can be written to a file: half a character cannot."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _list(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _parse(path: AnyPath) -> dict[str, Any]:
    try:
        data = json.loads(read_whole(path))
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"cannot load {os.fspath(path)!r}: it is not whole JSON ({error}); "
            "use a file that Session.save wrote."
        ) from error
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise InputError(
            f"cannot load {os.fspath(path)!r}: it is not a session; "
            "use a file that Session.save wrote."
        )
    if data.get("version") != _VERSION:
        raise InputError(
            f"cannot load {os.fspath(path)!r}: it has version {data.get('version')!r} of the "
            f"format and this fairduel reads version {_VERSION}; update fairduel."
        )
    if data.pop("checksum", None) != _checksum(data):
        raise InputError(
            f"cannot load {os.fspath(path)!r}: it was changed or damaged after it was saved; "
            "use an earlier copy."
        )
    return data


def _checksum(data: dict[str, Any]) -> str:
    """Of everything in a session file, however it is laid out."""
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _readable(data: dict[str, Any]) -> str:
    """JSON with a line for each item at the top and for each duel."""
    lines = []
    for key, value in data.items():
        if key == "duels" and value:
            rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in value)
            text = f"[\n{rows}\n  ]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        lines.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
