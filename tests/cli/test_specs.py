"""Names and settings as text: what they make, and what is said about those that are wrong."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

from fairduel.cli import specs
from fairduel.data import read_rankings
from fairduel.environments import (
    BradleyTerry,
    Hard,
    Mallows,
    Random,
    RankedGroups,
    RankedPeople,
    paper_instances,
)
from fairduel.errors import InputError
from fairduel.instance import Instance
from fairduel.learners import FairEpsilonGreedy, FairETC, FairVOI, UniformOverUsers, catalogue
from fairduel.learners.tournament import Tournament
from fairduel.welfare import (
    Egalitarian,
    FrankWolfe,
    GeneralizedGini,
    Nash,
    PowerMean,
    Utilitarian,
    Welfare,
)


def some(environment: str, runs: int = 4, seed: int = 0, **sizes: Any) -> list[Instance]:
    made = specs.environment(environment, sizes)
    return [made.draw(run, 1000, seed) for run in range(runs)]


@pytest.mark.parametrize(
    ("text", "learner"),
    [
        ("fair-etc", FairETC()),
        ("fair-eps", FairEpsilonGreedy()),
        ("utilitarian-etc", FairETC(welfare=Utilitarian())),
        ("utilitarian-eps", FairEpsilonGreedy(welfare=Utilitarian())),
        ("uniform", UniformOverUsers()),
        ("fair-etc:preset=as_run", FairETC.as_run()),
        ("utilitarian-eps:preset=as_run", FairEpsilonGreedy.as_run(welfare=Utilitarian())),
        ("fair-etc:welfare=egalitarian,exploration=0.5", FairETC(Egalitarian(), 0.5)),
        ("fair-etc:winners=3/0/1", FairETC(winners=(3, 0, 1))),
        ("fair-voi:winners=3/0/1", FairVOI(winners=(3, 0, 1))),
        ("fair-voi:winners=3/-/1", FairVOI(winners=(3, None, 1))),
        ("fair-eps:solve_every=7,warm_up=false", FairEpsilonGreedy(solve_every=7, warm_up=False)),
        (
            "uniform:tournament.gap_guess=0.01,tournament.pool_rounds=false",
            UniformOverUsers(Tournament(gap_guess=0.01, pool_rounds=False)),
        ),
    ],
)
def test_text_makes_the_learner(text: str, learner: object) -> None:
    assert specs.learner(text) == learner


def test_settings_come_on_top_of_the_preset() -> None:
    made = specs.learner("fair-eps:tournament.gap_guess=0.01", preset="as_run")
    as_run = FairEpsilonGreedy.as_run()
    tournament = dataclasses.replace(as_run.tournament, gap_guess=0.01)
    assert made == dataclasses.replace(as_run, tournament=tournament)


def test_a_preset_of_its_own_wins() -> None:
    assert specs.learner("fair-etc:preset=as_written", preset="as_run") == FairETC()


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_every_setting_can_be_given(name: str) -> None:
    samples = {
        int: "3",
        float: "0.25",
        bool: "true",
        tuple[int, ...] | None: "1/2",
        tuple[int | None, ...] | None: "1/-/0",
        Welfare: "frank-wolfe",
        str: "borda",
    }
    kind = type(specs.learner(name))
    fields = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    hints = {setting: h for setting, h in get_type_hints(kind).items() if setting in fields}
    inner = get_type_hints(hints.pop("tournament")) if "tournament" in hints else {}
    if hints.pop("features", None):
        with pytest.raises(InputError, match="set it in Python"):
            specs.learner(f"{name}:features=1")
    for setting, hint in {**hints, **{f"tournament.{key}": inner[key] for key in inner}}.items():
        if setting == "features":  # a table of numbers
            with pytest.raises(InputError, match="features can't be given as text: set it in"):
                specs.learner(f"{name}:{setting}=1")
        else:
            assert specs.learner(f"{name}:{setting}={samples[hint]}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fair-ect", "there is no learner 'fair-ect': did you mean 'fair-etc'?"),
        (
            "xyz",
            "use one of fair-voi, bt-thompson, fair-etc, fair-eps, utilitarian-etc, "
            "utilitarian-eps, uniform.",
        ),
        ("fair-etc:explore=1", "no fair-etc setting 'explore': did you mean 'exploration'?"),
        ("fair-etc:gap_guess=1", "did you mean 'tournament.gap_guess'?"),
        ("fair-etc:tournament=1", "there is no fair-etc setting 'tournament'"),
        ("fair-etc:preste=as_run", "did you mean 'preset'?"),
        ("fair-etc:preset=as_rnu", "there is no preset 'as_rnu': did you mean 'as_run'?"),
        ("fair-etc:exploration=much", "exploration is 'much': give a number."),
        ("fair-etc:exploration=nan", "exploration is nan: it must be a positive number."),
        ("fair-etc:count_winners=1", "count_winners is '1': give true or false."),
        ("fair-etc:winners=a/b", "winners is 'a/b': give whole numbers with / between"),
        ("fair-eps:solve_every=1.5", "solve_every is '1.5': give a whole number."),
        ("fair-eps:solve_every=0", "solve_every is 0"),
        ("fair-etc:welfare=nahs", "there is no welfare 'nahs': did you mean 'nash'?"),
        ("fair-etc:exploration", "'exploration' is not a setting of fair-etc"),
        ("fair-etc:exploration=1,exploration=2", "'exploration' of fair-etc is given twice"),
        ("uniform:tournament.gap_guess=2", "gap_guess is 2.0"),
    ],
)
def test_wrong_text_is_one_clear_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        specs.learner(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_welfares_by_name() -> None:
    for welfare in (Nash(), Utilitarian(), Egalitarian(), FrankWolfe()):
        assert specs.welfare(welfare.name) == welfare


def test_a_welfare_says_by_which_text_it_is_found_again() -> None:
    for text in ("nash", "power-mean:p=-0.1234567891234", "gini:delta=3", "gini:weights=3/1.5/0"):
        assert specs.welfare(text).text == text
    assert specs.welfare("power-mean").text == "power-mean:p=-1"
    assert specs.welfare("gini").text == "gini:delta=2"


@pytest.mark.parametrize(
    ("text", "welfare"),
    [
        ("power-mean", PowerMean()),
        ("power-mean:p=0.5", PowerMean(0.5)),
        ("power-mean:p=-2,weights=1/2.5", PowerMean(-2.0, (1.0, 2.5))),
        ("power-mean:p=-2:weights=1/2.5", PowerMean(-2.0, (1.0, 2.5))),
        ("gini", GeneralizedGini()),
        ("gini:delta=3", GeneralizedGini(delta=3.0)),
        ("gini:weights=3/2/1,sizes=1/1/9", GeneralizedGini((3, 2, 1), sizes=(1, 1, 9))),
        ("nash:weights=1/2,tolerance=1e-6", Nash((1.0, 2.0), 1e-6)),
        ("frank-wolfe:iterations=10", FrankWolfe(10)),
    ],
)
def test_welfares_with_settings(text: str, welfare: Welfare) -> None:
    assert specs.welfare(text) == welfare
    nested = text.replace(",", ":")
    made = specs.learner(f"fair-etc:welfare={nested},exploration=0.5")
    assert made == FairETC(welfare, 0.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("power", "there is no welfare 'power': did you mean 'power-mean'?"),
        ("power-mean:q=1", "there is no power-mean setting 'q': use one of p, weights, tolerance."),
        ("power-mean:p=much", "p is 'much': give a number."),
        ("power-mean:p=1.01", "p is 1.01: give a finite number of at most 1"),
        ("power-mean:p=nan", "p is nan: give a finite number of at most 1"),
        ("power-mean:p=1,p=0", "'p' of power-mean is given twice"),
        ("power-mean:-1", "'-1' is not a setting of power-mean: write it as setting=value."),
        ("gini:weights=1/2", "must not increase from the worst off to the best off"),
        ("gini:weights=1/-2", "weights[1] is -2.0"),
        ("gini:weights=a/b", "weights is 'a/b': give numbers with / between, like 3/2/1."),
        ("gini:delta=0.9", "delta is 0.9: give a finite number from 1 up"),
        ("nash:weights=1/-2", "weights[1] is -2.0: give a positive finite number"),
        ("egalitarian:p=1", "there is no egalitarian setting 'p': leave it out, there are none."),
    ],
)
def test_wrong_welfares_are_one_clear_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        specs.welfare(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("environment", specs.ENVIRONMENTS)
def test_instances_depend_on_seed_and_run_alone(environment: str) -> None:
    few, many = some(environment, 3, users=4, arms=5), some(environment, 5, users=4, arms=5)
    assert few == many[:3]
    assert all(a != b for a, b in itertools.combinations(many, 2))
    assert many[0].scores.shape == (4, 5)
    if environment != "paper":
        assert few[0] != some(environment, 1, seed=1, users=4, arms=5)[0]


def test_paper_environment_is_the_paper() -> None:
    assert some("paper", 30) == paper_instances()


def test_sizes_reach_the_generators() -> None:
    assert some("random", 1, users=3, arms=4, gap=0.3)[0].gap >= 0.3
    winners = some("clustered", 1, users=10, arms=6, share=0.7)[0].winners
    assert np.bincount(winners).max() == 7


def test_hard_instances_come_in_turn() -> None:
    # With 4 users there are I^0, I^1 and I^2; user 3 tells the good arm from the others.
    rows = [instance.scores[2] for instance in some("hard", 6, users=4, arms=4)]
    high = [int((row > 0.99).sum()) for row in rows]
    assert high[0] == high[3]
    assert high[1] == high[2] == high[4] == high[0] + 1


@pytest.mark.parametrize(
    ("environment", "runs", "sizes", "said"),
    [
        ("rnadom", 1, {}, "there is no environment 'rnadom': did you mean 'random'?"),
        ("hard", 1, {"gap": 0.1}, "the environment 'hard' has no gap"),
        ("random", 1, {"share": 0.1}, "the environment 'random' has no share"),
        ("paper", 31, {}, "the paper's 30 instances are 0 to 29"),
        ("random", 1, {"users": 0}, "users is 0"),
    ],
)
def test_wrong_environments(environment: str, runs: int, sizes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        some(environment, runs, **sizes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("randon", "there is no environment 'randon': did you mean 'random'?"),
        ("random:user=3", "no setting of random 'user': did you mean 'users'?"),
        ("random:users=few", "users is 'few': give a whole number"),
        ("random:users", "'users' is not a setting of random"),
        ("random:epsilon=0.1", "no setting of random 'epsilon'"),
        ("file:none.json", "cannot read 'none.json'"),
        ("bradly-terry", "there is no environment 'bradly-terry': did you mean 'bradley-terry'?"),
        ("bradley-terry:camps=two", "camps is 'two': give a whole number."),
        ("mallows:disperson=1", "no setting of mallows 'disperson': did you mean 'dispersion'?"),
        ("rankings", "cannot use '': rankings are in files that end in .order"),
        ("rankings:users=3", "cannot use 'users=3': rankings are in files that end in"),
        ("rankings:none.soc:users=3", "cannot read 'none.soc'"),
        ("rankings:none.soc:as=peple", "there is no kind of users 'peple': did you mean 'people'?"),
    ],
)
def test_wrong_environment_texts(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        specs.environment(text)
    assert said in str(caught.value)


def test_environments_by_text() -> None:
    assert specs.environment("random:users=5,gap=0.2") == Random(users=5, gap=0.2)
    assert specs.environment("hard:epsilon=0.1") == Hard(epsilon=0.1)
    with pytest.raises(InputError, match=r"epsilon is 0\.3: give a number above 0"):
        specs.environment("hard:epsilon=0.3").draw(0, 100, 0)


def test_models_of_people_by_text() -> None:
    made = specs.environment("bradley-terry:spread=2,users=5,arms=10,camps=2")
    assert made == BradleyTerry(users=5, arms=10, spread=2.0, camps=2)
    assert specs.environment("mallows:dispersion=0.2,users=3") == Mallows(3, dispersion=0.2)


def test_rankings_by_text(tmp_path: Path) -> None:
    file = tmp_path / "C,some=where:else.soc"
    file.write_text("2\n1,x\n2,y\n3,3,2\n2,1,2\n1,2,1\n")
    rankings = read_rankings(file)
    for text, made in {
        f"rankings:{file}": RankedGroups(rankings),
        f"rankings:{file}:users=2,gap=0.2": RankedGroups(rankings, 2, gap=0.2),
        f"rankings:{file},as=groups,people=3": RankedGroups(rankings, people=3),
        f"rankings:{file}:as=people,users=2,slope=1": RankedPeople(rankings, 2, 1.0),
    }.items():
        assert specs.environment(text) == made
    with pytest.raises(InputError, match="no setting of rankings 'slope'"):
        specs.environment(f"rankings:{file}:as=groups,slope=1")
    with pytest.raises(InputError, match="no setting of rankings 'rankings'"):
        specs.environment(f"rankings:{file}:rankings=1")


def test_sizes_in_the_text_and_beside_it() -> None:
    assert specs.environment("random:users=5", {"gap": 0.2}) == Random(users=5, gap=0.2)
    with pytest.raises(InputError, match="the setting 'users' of random is given twice"):
        specs.environment("random:users=5", {"users": 5})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no_such_module:Mine", "'no_such_module:Mine' cannot be loaded"),
        ("own_learners:None_such", "'own_learners:None_such' cannot be loaded"),
        ("own_learners:NotALearner", "is not a learner: derive its class from fairduel.Learner"),
        ("own_learners:NeedsArguments", "cannot be loaded (TypeError"),
        ("own_learners:broken", "cannot be loaded (TypeError"),
        ("own_learners:Counted:second=1", "did you mean 'seconds'?"),
    ],
)
def test_own_learners_that_are_none(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        specs.learner(text)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["100", "log:0", "linear:x", "often:3"])
def test_wrong_checkpoints(text: str) -> None:
    with pytest.raises(InputError, match=f"the checkpoints are '{text}': write linear or log"):
        specs.checkpoints(text)


def test_learners_learn_the_scoring_unless_they_name_another() -> None:
    found = specs.learners(
        ["fair-voi", "fair-etc:scoring=condorcet", "bt-thompson", "uniform"], scoring="borda"
    )
    assert [each.scoring for each in found.values()] == ["borda", "condorcet", "borda", "condorcet"]
    assert specs.learners(["fair-voi"])["fair-voi"] == FairVOI()
    with pytest.raises(InputError, match="no learner learns copeland scores"):
        specs.learners(["fair-etc"], scoring="copeland")
