"""The laws of learners."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any, get_args

import numpy as np

from fairduel._arrays import Bools
from fairduel._codec import classes_in, decode
from fairduel.errors import InputError
from fairduel.learners.learner import Kind, Learner
from fairduel.offers import Script
from fairduel.tally import Tally
from fairduel.testing._checks import check, check_policy
from fairduel.testing._game import (
    ARMS,
    LONG,
    SHORT,
    USERS,
    Game,
    as_text,
    at_random,
    moments,
    one,
    play_out,
    shape,
    view,
    whole,
)

CLOSE = 1e-3  # how far the policies of two solutions may lie apart; their values are far closer


def tell_order_does_not_matter(learner: Learner[Any]) -> None:
    """Tallies told in any order, or added up, lead to the same offer and the same policy."""
    for game in moments(learner):
        play = game.ask()
        played = game.draw(play, min(play.rounds, 30))
        third = np.arange(len(played.pairs)) % 3
        pieces = [game.issued(played, third == k) for k in range(3)]
        pieces += [game.answered(played, third == k) for k in range(3)]
        orders = (pieces, pieces[::-1], [sum(pieces[1:], pieces[0])])
        views = [view(game.told(order)) for order in orders]
        check(views[0] == views[1], "telling tallies in reverse order changes what comes next.")
        check(views[0] == views[2], "telling the sum of tallies changes what comes next.")


def telling_nothing_changes_nothing(learner: Learner[Any]) -> None:
    """An empty tally changes neither the next offer nor the policy."""
    for game in moments(learner):
        same = view(game) == view(game.told([Tally.empty(game.users, game.arms)]))
        check(same, "telling an empty tally changes what comes next.")


def asked_again_it_offers_the_rest(learner: Learner[Any]) -> None:
    """After a part of an offer, whatever was answered, the rest of it is offered."""
    for game in moments(learner):
        play = game.ask()
        check(as_text(shape(play, 0)) == as_text(shape(game.ask(), 0)), "asking twice differs.")
        for part in {1, play.rounds // 2, play.rounds - 1} - {0, play.rounds}:
            fork = game.fork()
            fork.play(part)
            rest, offered = as_text(shape(play, part)), as_text(shape(fork.ask(), 0))
            check(rest == offered, f"after {part} rounds of an offer the rest is not offered.")


def late_answers_wait_for_the_end_of_an_offer(learner: Learner[Any]) -> None:
    """What is heard of earlier duels does not change the rest of an offer that is listened to."""
    for game in moments(learner):
        play = game.ask()
        if isinstance(play, Script) or not play.listen or play.rounds < 2:
            continue
        late = Tally.empty(game.users, game.arms)
        late.wins[:, 0, 1:], late.wins[:, 1:, 0] = 7.0, 2.0
        fork, part = game.fork(), play.rounds // 2
        fork.play(part)
        rest, offered = as_text(shape(play, part)), as_text(shape(fork.told([late]).ask(), 0))
        check(rest == offered, "answers to earlier duels change the rest of an offer.")


def a_run_does_not_depend_on_how_offers_are_cut(learner: Learner[Any]) -> None:
    """However offers are cut, the same duels are asked about in the same rounds."""
    for horizon in (SHORT, LONG):
        cuts = [whole, at_random(1), at_random(2)] + [one] * (horizon == SHORT)
        runs = [play_out(learner, cut, horizon=horizon) for cut in cuts]
        for run in runs[1:]:
            same = np.array_equal(runs[0].asked_about(), run.asked_about())
            check(same, "the duels that are asked about depend on how offers are cut.")
            near = np.abs(runs[0].policy() - run.policy()).max() <= CLOSE
            check(bool(near), "the policy in the end depends on how offers are cut.")


def a_script_looks_at_past_answers_only(learner: Learner[Any]) -> None:
    """``follow`` returns the same policies for the first answers whatever the later ones are."""
    for game in moments(learner):
        play = game.ask()
        if not isinstance(play, Script):
            continue
        answers = game.answers(play.pairs)
        policies = play.follow(answers)
        check(len(policies) == len(play.pairs), "follow does not return one policy for each step.")
        for policy in policies:
            check_policy(policy, game.arms)
        for known in {0, 1, len(answers) // 2}:
            steps = min(known + 1, len(policies))
            first = play.follow(answers[:known])
            check(len(first) == steps, f"follow returns {len(first)} policies for {steps} steps.")
            near = np.abs(first - policies[:steps]).max() <= CLOSE
            check(bool(near), "a policy of a script depends on later answers.")


def a_state_can_be_saved_and_restored(learner: Learner[Any]) -> None:
    """A state that went through JSON goes on like the original, to the bit."""
    for game in moments(learner):
        text = as_text(game.state)
        twin = game.fork()
        twin.state = decode(json.loads(text), classes_in(type(game.state)))
        check(as_text(twin.state) == text, "a restored state differs from the one saved.")
        check(view(twin) == view(game), "a restored state leads to another offer.")
        for _ in range(5):
            game.play(500)
            twin.play(500)
        check(as_text(twin.state) == as_text(game.state), "a restored state goes another way.")


def answers_may_be_missing(learner: Learner[Any]) -> None:
    """Some users, or all of them, never answer; the learner goes on."""

    def never(rounds: int) -> Bools:
        return np.zeros((rounds, USERS), bool)

    def first_only(rounds: int) -> Bools:
        return np.tile(np.arange(USERS) == 0, (rounds, 1))

    def now_and_then(rounds: int) -> Bools:
        heard: Bools = (np.arange(rounds)[:, None] + 2 * np.arange(USERS)) % 3 == 0
        return heard

    for heard, horizon in itertools.product((never, first_only, now_and_then), (SHORT, LONG)):
        game = play_out(learner, at_random(3), horizon=horizon, heard=heard)
        check_policy(game.policy(), game.arms)


def answers_may_be_late(learner: Learner[Any]) -> None:
    """Answers that come after other duels were played, or after all of them, are taken."""
    for delay, horizon in itertools.product((1, 10, LONG), (SHORT, LONG)):
        game = Game(learner, USERS, ARMS, horizon)
        waiting: list[Tally] = []
        while game.left > 0:
            played = game.draw(game.ask(), 200)
            game.tell(game.issued(played))
            waiting.append(game.answered(played))
            if len(waiting) > delay:
                game.tell(waiting.pop(0))
            check_policy(game.policy(), game.arms)
        for tally in waiting:
            game.tell(tally)
        game.ask()
        check_policy(game.policy(), game.arms)


def answers_may_be_ties(learner: Learner[Any]) -> None:
    """Half a win for either arm is an answer like any other."""
    for horizon in (SHORT, LONG):
        game = play_out(learner, at_random(4), horizon=horizon, tied=True)
        check_policy(game.policy(), game.arms)


def the_budget_is_kept(learner: Learner[Any]) -> None:
    """Offers add up to the horizon and no further; asked beyond it, the learner still answers."""
    for horizon in (1, 2, 3, SHORT, LONG):
        game = Game(learner, USERS, ARMS, horizon)
        while game.left > 0:
            play = game.ask()
            check(play.rounds >= 1, f"an offer has {play.rounds} rounds.")
            check(
                play.rounds <= game.left,
                f"{play.rounds} rounds are offered where {game.left} are left.",
            )
            game.play(play.rounds)
        for _ in range(3):
            check(game.ask().rounds >= 1, "beyond the horizon there is no offer.")
            game.play(1)
            check_policy(game.policy(), game.arms)


def arguments_are_left_alone(learner: Learner[Any]) -> None:
    """``ask``, ``tell`` and ``policy`` change neither the state nor the tally they are given."""
    for game in moments(learner):
        before = as_text(game.state)
        play, _ = learner.ask(game.state)
        check(as_text(game.state) == before, "ask changes the state it is given.")
        learner.policy(game.state)
        check(as_text(game.state) == before, "policy changes the state it is given.")
        played = game.draw(play, 5)
        tally = game.issued(played) + game.answered(played)
        told = as_text(tally)
        learner.tell(game.state, tally)
        check(as_text(game.state) == before, "tell changes the state it is given.")
        check(as_text(tally) == told, "tell changes the tally it is given.")


def the_same_seed_gives_the_same_run(learner: Learner[Any]) -> None:
    """Everything random comes from the seed."""
    first, second = (play_out(learner, whole, seed=5) for _ in range(2))
    same = np.array_equal(first.asked_about(), second.asked_about())
    check(
        same and as_text(first.state) == as_text(second.state), "the same seed plays differently."
    )


def the_policy_is_a_distribution(learner: Learner[Any]) -> None:
    """At every moment the policy is made of probabilities that add up to one."""
    for game in moments(learner):
        check_policy(game.policy(), game.arms)
        game.ask()
        check_policy(game.policy(), game.arms)
        game.play(1)
        check_policy(game.policy(), game.arms)


def the_smallest_problems_work(learner: Learner[Any]) -> None:
    """One user, one or two arms, one round: nothing breaks."""
    for users, arms, horizon in itertools.product((1, 2), (1, 2), (1, 2, SHORT, 2000)):
        game = play_out(learner, whole, users=users, arms=arms, horizon=horizon)
        check_policy(game.policy(), arms)


def it_explains_itself_if_it_says_so(learner: Learner[Any]) -> None:
    """``outlook`` and ``rationale`` say something sensible if ``explains``, and else nothing."""
    for game in moments(learner):
        before = as_text(game.state)
        try:
            outlook = learner.outlook(game.state)
        except InputError:
            check(not learner.explains, "it explains itself, but has no outlook.")
            rationale = learner.rationale(game.state, (0, 1))
            check(rationale is None, "it does not explain itself, but has a rationale.")
            return
        check(learner.explains, "it does not explain itself, but has an outlook.")
        share = (outlook.low, outlook.share, outlook.high)
        check(0.0 <= share[0] <= share[1] <= share[2] <= 1.0, f"the share of the best is {share}.")
        check(outlook.ten_more >= 0.0, f"ten more answers add {outlook.ten_more}.")
        for shown in (None, (0, 1), (1, 1)):
            rationale = learner.rationale(game.state, shown)
            check(rationale is not None, "it explains itself, but has no rationale.")
            assert rationale is not None
            known = rationale.kind in get_args(Kind)
            check(known, f"the kind of a rationale is {rationale.kind!r}.")
            named = (rationale.pair is not None) == (rationale.kind in ("winner", "scores"))
            check(named, f"a rationale of kind {rationale.kind!r} has pair {rationale.pair}.")
        check(as_text(game.state) == before, "explaining changes the state.")


LEARNER_LAWS: tuple[Callable[[Learner[Any]], None], ...] = (
    tell_order_does_not_matter,
    telling_nothing_changes_nothing,
    asked_again_it_offers_the_rest,
    late_answers_wait_for_the_end_of_an_offer,
    a_run_does_not_depend_on_how_offers_are_cut,
    a_script_looks_at_past_answers_only,
    a_state_can_be_saved_and_restored,
    answers_may_be_missing,
    answers_may_be_late,
    answers_may_be_ties,
    the_budget_is_kept,
    arguments_are_left_alone,
    the_same_seed_gives_the_same_run,
    the_policy_is_a_distribution,
    the_smallest_problems_work,
    it_explains_itself_if_it_says_so,
)
