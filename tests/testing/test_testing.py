"""The laws find what they are there to find: each rejects a learner or a welfare that breaks it."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from fairduel._arrays import Floats
from fairduel.learners import Learner
from fairduel.learners.learner import Outlook, Rationale
from fairduel.offers import Mix, Play, Script
from fairduel.tally import Tally
from fairduel.testing import LEARNER_LAWS, WELFARE_LAWS
from fairduel.testing import learners as learner_laws
from fairduel.testing import welfares as welfare_laws
from fairduel.welfare import Egalitarian, FrankWolfe, Nash, Solution, Utilitarian, Welfare

# A learner of one's own: an example of how little it takes


@dataclass(frozen=True, eq=False)
class State:
    horizon: int
    seed: int
    heard: Tally
    policy: Floats
    asked: int = 0


@dataclass(frozen=True)
class Copier(Learner[State]):
    """Chooses arms as often as they won; thinks again every thousand rounds."""

    def init(self, users: int, arms: int, horizon: int, seed: int) -> State:
        return State(horizon, seed, Tally.empty(users, arms), np.full(arms, 1 / arms))

    def ask(self, state: State) -> tuple[Play, State]:
        played = state.heard.rounds
        if played % 1000 == 0:
            state = replace(state, policy=self.policy(state))
        rounds = max(1, min(1000 - played % 1000, state.horizon - played))
        return Mix(state.policy, state.policy, rounds), state

    def tell(self, state: State, tally: Tally) -> State:
        return replace(state, heard=state.heard + tally)

    def policy(self, state: State) -> Floats:
        wins = state.heard.wins.sum(axis=(0, 2)) + 1.0
        return np.asarray(wins / wins.sum())


@pytest.mark.parametrize("law", LEARNER_LAWS, ids=lambda law: law.__name__)
def test_a_learner_of_ones_own(law: Callable[[Learner[Any]], None]) -> None:
    law(Copier())


# Broken learners


class LastOnly(Copier):
    """Forgets all but the last answers."""

    def tell(self, state: State, tally: Tally) -> State:
        return replace(state, heard=Tally(state.heard.plays + tally.plays, tally.wins))


class Counter(Copier):
    """Takes every tally for a round, even an empty one."""

    def tell(self, state: State, tally: Tally) -> State:
        heard = state.heard + tally
        heard.plays[0, 0] += 1
        return replace(state, heard=heard)


class Afresh(Copier):
    """Begins every offer anew."""

    def ask(self, state: State) -> tuple[Play, State]:
        left = max(1, state.horizon - state.heard.rounds)
        return Mix(state.policy, state.policy, min(1000, left)), state


class Fickle(Copier):
    """Thinks again whenever it is asked."""

    def ask(self, state: State) -> tuple[Play, State]:
        play, state = super().ask(state)
        policy = self.policy(state)
        return Mix(policy, policy, play.rounds), state


class Hasty(Copier):
    """Thinks again when answers come late."""

    def tell(self, state: State, tally: Tally) -> State:
        state = super().tell(state, tally)
        late = tally.wins.any() and tally.rounds == 0
        return replace(state, policy=self.policy(state)) if late else state


class Restless(Copier):
    """What it recommends in the end depends on how often it was asked."""

    def ask(self, state: State) -> tuple[Play, State]:
        play, state = super().ask(state)
        return play, replace(state, asked=state.asked + 1)

    def policy(self, state: State) -> Floats:
        first, others = np.eye(len(state.policy))[0], super().policy(state)
        return np.asarray(others + (first - others) / (1 + state.asked))


class Prophet(Copier):
    """Its scripts play what is answered later."""

    def ask(self, state: State) -> tuple[Play, State]:
        arms, left = len(state.policy), state.horizon - state.heard.rounds
        if left < 2:
            return Mix(state.policy, state.policy, 1, listen=False), state
        steps = min(9, left // 2)
        pairs = np.tile([0, arms - 1], (steps, 1))

        def follow(answers: Floats) -> Floats:
            arm = int(answers.sum()) % 2 * (arms - 1)
            return np.tile(np.eye(arms)[arm], (min(len(answers) + 1, steps), 1))

        return Script(np.ones(steps, np.int64), pairs, follow), state


@dataclass(frozen=True, eq=False)
class ObjectState(State):
    notes: Any = None


class Hoarder(Copier):
    """Keeps what no file can hold."""

    def init(self, users: int, arms: int, horizon: int, seed: int) -> State:
        state = super().init(users, arms, horizon, seed)
        return ObjectState(state.horizon, state.seed, state.heard, state.policy, notes={1: 2})


class Secretive(Copier):
    """Hides a note where no file will have it."""

    def tell(self, state: State, tally: Tally) -> State:
        told = super().tell(state, tally)
        object.__setattr__(told, "note", 1)
        return told

    def policy(self, state: State) -> Floats:
        return np.eye(len(state.policy))[0] if hasattr(state, "note") else super().policy(state)


class Impatient(Copier):
    """Wants every answer before it goes on."""

    def ask(self, state: State) -> tuple[Play, State]:
        apart = state.heard.plays.sum() - state.heard.plays.trace()
        if state.heard.wins.sum() != apart * len(state.heard.wins):
            raise RuntimeError("where are my answers?")
        return super().ask(state)


class Decided(Copier):
    """Knows whole wins only."""

    def tell(self, state: State, tally: Tally) -> State:
        if (tally.wins % 1.0).any():
            raise RuntimeError("who won?")
        return super().tell(state, tally)


class Greedy(Copier):
    """Wants seven rounds, whatever is left."""

    def ask(self, state: State) -> tuple[Play, State]:
        play, state = super().ask(state)
        return replace(play, rounds=max(play.rounds, 7)), state  # type: ignore[arg-type]


class Ender(Copier):
    """Has nothing to offer when the horizon is reached."""

    def ask(self, state: State) -> tuple[Play, State]:
        play, state = super().ask(state)
        left = state.horizon - state.heard.rounds
        return replace(play, rounds=min(play.rounds, left)), state  # type: ignore[arg-type]


class Scribbler(Copier):
    """Writes into the state it is given."""

    def tell(self, state: State, tally: Tally) -> State:
        state.heard.plays[:] += tally.plays
        state.heard.wins[:] += tally.wins
        return state


class TallyScribbler(Copier):
    """Writes into the tally it is given."""

    def tell(self, state: State, tally: Tally) -> State:
        told = super().tell(state, tally)
        tally.wins[:] = 0.0
        return told


class Gambler(Copier):
    """Draws from a source that no seed governs."""

    source = itertools.count()

    def init(self, users: int, arms: int, horizon: int, seed: int) -> State:
        state = super().init(users, arms, horizon, seed)
        policy = np.random.default_rng(next(self.source)).dirichlet(np.ones(arms))
        return replace(state, policy=policy)

    def ask(self, state: State) -> tuple[Play, State]:
        left = max(1, state.horizon - state.heard.rounds)
        return Mix(state.policy, state.policy, left), state


class Spendthrift(Copier):
    """Gives out more than it has."""

    def policy(self, state: State) -> Floats:
        return np.ones(len(state.policy))

    def ask(self, state: State) -> tuple[Play, State]:
        return Mix(state.policy, state.policy, max(1, state.horizon - state.heard.rounds)), state


class Pairing(Copier):
    """Cannot do with one arm."""

    def policy(self, state: State) -> Floats:
        return np.array([0.5, 0.5] + [0.0] * (len(state.policy) - 2))


class Boaster(Copier):
    """Says that it explains itself."""

    explains = True


class Chatterer(Copier):
    """Explains what it said that it would not."""

    def outlook(self, state: State) -> Outlook:
        return Outlook(0.5, 0.4, 0.6, 0.1)


class Optimist(Copier):
    """Is surer than sure."""

    explains = True

    def outlook(self, state: State) -> Outlook:
        return Outlook(1.5, 1.0, 2.0, 0.1)


class Mumbler(Copier):
    """Gives a reason that is none."""

    explains = True

    def outlook(self, state: State) -> Outlook:
        return Outlook(0.5, 0.4, 0.6, 0.1)

    def rationale(self, state: State, shown: tuple[int, int] | None) -> Rationale:
        return Rationale("scores", pair=None)


BROKEN = [
    (learner_laws.tell_order_does_not_matter, LastOnly()),
    (learner_laws.telling_nothing_changes_nothing, Counter()),
    (learner_laws.asked_again_it_offers_the_rest, Afresh()),
    (learner_laws.asked_again_it_offers_the_rest, Fickle()),
    (learner_laws.late_answers_wait_for_the_end_of_an_offer, Hasty()),
    (learner_laws.a_run_does_not_depend_on_how_offers_are_cut, Fickle()),
    (learner_laws.a_run_does_not_depend_on_how_offers_are_cut, Restless()),
    (learner_laws.a_script_looks_at_past_answers_only, Prophet()),
    (learner_laws.a_state_can_be_saved_and_restored, Hoarder()),
    (learner_laws.a_state_can_be_saved_and_restored, Secretive()),
    (learner_laws.answers_may_be_missing, Impatient()),
    (learner_laws.answers_may_be_late, Impatient()),
    (learner_laws.answers_may_be_ties, Decided()),
    (learner_laws.the_budget_is_kept, Greedy()),
    (learner_laws.the_budget_is_kept, Ender()),
    (learner_laws.arguments_are_left_alone, Scribbler()),
    (learner_laws.arguments_are_left_alone, TallyScribbler()),
    (learner_laws.the_same_seed_gives_the_same_run, Gambler()),
    (learner_laws.the_policy_is_a_distribution, Spendthrift()),
    (learner_laws.the_smallest_problems_work, Pairing()),
    (learner_laws.it_explains_itself_if_it_says_so, Boaster()),
    (learner_laws.it_explains_itself_if_it_says_so, Chatterer()),
    (learner_laws.it_explains_itself_if_it_says_so, Optimist()),
    (learner_laws.it_explains_itself_if_it_says_so, Mumbler()),
]


@pytest.mark.parametrize(("law", "learner"), BROKEN, ids=lambda x: getattr(x, "__name__", None))
def test_a_broken_learner_is_found(
    law: Callable[[Learner[Any]], None], learner: Learner[Any]
) -> None:
    with pytest.raises((AssertionError, RuntimeError, ValueError)):
        law(learner)


def test_every_law_has_a_learner_that_breaks_it() -> None:
    assert {law for law, _ in BROKEN} == set(LEARNER_LAWS)


# Welfares


@pytest.mark.parametrize("law", WELFARE_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(
    "welfare", [Nash(), FrankWolfe(), Utilitarian(), Egalitarian()], ids=lambda w: type(w).__name__
)
def test_the_packages_welfares(law: Callable[[Welfare], None], welfare: Welfare) -> None:
    law(welfare)


class Unnormalised(Nash):
    def maximize(self, scores: Any, start: Any = None) -> Solution:
        solution = super().maximize(scores)
        return replace(solution, policy=2 * solution.policy)


class Boastful(Nash):
    def maximize(self, scores: Any, start: Any = None) -> Solution:
        solution = super().maximize(scores)
        return replace(solution, value=1.01 * solution.value)


class AllInOne(Nash):
    def value(self, utilities: Any) -> Floats:
        return np.asarray(np.prod(utilities))


class Lazy(Nash):
    """The uniform policy, claimed to be best."""

    def maximize(self, scores: Any, start: Any = None) -> Solution:
        policy = np.full(np.shape(scores)[1], 1 / np.shape(scores)[1])
        utilities = scores @ policy
        return Solution(policy, utilities, float(self.value(utilities)), 0.0)


class FirstArm(Nash):
    def maximize(self, scores: Any, start: Any = None) -> Solution:
        policy = np.eye(np.shape(scores)[1])[0]
        utilities = scores @ policy
        return Solution(policy, utilities, float(self.value(utilities)), 0.0)


class Stuck(Nash):
    """Stays where it begins."""

    def maximize(self, scores: Any, start: Any = None) -> Solution:
        if start is None:
            return super().maximize(scores)
        utilities = scores @ start
        return Solution(start, utilities, float(self.value(utilities)), 0.0)


class Follower(Nash):
    """Follows with the first policy."""

    def follow(self, scores: Any, start: Any = None) -> Floats:
        policies = super().follow(scores, start)
        return np.repeat(policies[:1], len(policies), axis=0)


class Steep(Nash):
    def gradient(self, utilities: Any) -> Floats:
        return 1.01 * super().gradient(utilities)


class Flat(Nash):
    """Takes itself for concave."""

    relative = False


class Sure(Nash):
    """Certifies everything."""

    def certificate(self, scores: Any, policy: Any) -> float:
        return 0.0


class Cautious(Nash):
    """Promises less than it could."""

    def certificate(self, scores: Any, policy: Any) -> float:
        return super().certificate(scores, policy) + 0.01


BROKEN_WELFARES = [
    (welfare_laws.a_solution_is_a_policy_and_its_utilities, Unnormalised()),
    (welfare_laws.a_solution_is_a_policy_and_its_utilities, Boastful()),
    (welfare_laws.values_are_taken_over_the_last_axis, AllInOne()),
    (welfare_laws.a_tangent_lies_above, Steep()),
    (welfare_laws.a_tangent_lies_above, Flat()),
    (welfare_laws.no_policy_beats_the_gap, Lazy()),
    (welfare_laws.a_certificate_holds_for_any_policy, Sure()),
    (welfare_laws.a_certificate_holds_for_any_policy, Cautious()),
    (welfare_laws.nobody_is_preferred_by_number, FirstArm()),
    (welfare_laws.a_start_does_not_change_the_value, Stuck()),
    (welfare_laws.following_is_maximizing_again_and_again, Follower()),
]


@pytest.mark.parametrize(
    ("law", "welfare"), BROKEN_WELFARES, ids=lambda x: getattr(x, "__name__", None)
)
def test_a_broken_welfare_is_found(law: Callable[[Welfare], None], welfare: Welfare) -> None:
    with pytest.raises(AssertionError):
        law(welfare)


def test_every_law_has_a_welfare_that_breaks_it() -> None:
    assert {law for law, _ in BROKEN_WELFARES} == set(WELFARE_LAWS)
