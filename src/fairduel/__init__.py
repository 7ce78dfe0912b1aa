"""fairduel: fair decisions from pairwise votes.

A team decides: ``Session(people, options)``, then ``ask`` and ``tell``.
Votes that are in a file already: ``fit("votes.csv")``.
A researcher simulates, ``simulate(random_instance(10, 10), 200_000)``, and compares:
``compare([FairVOI(), Mine()], environments.Random(), 10_000)``.
The default learner is ``FairVOI()``.
"""

TYPE_CHECKING = False  # as in ``typing``, which takes longer to import than all of this
if TYPE_CHECKING:
    from fairduel import environments
    from fairduel.data import solve
    from fairduel.environments import (
        bradley_terry_instance,
        clustered_instance,
        hard_instance,
        mallows_instance,
        paper_instances,
        random_instance,
    )
    from fairduel.errors import InputError
    from fairduel.experiments import Results, compare
    from fairduel.fitting import Fit, fit
    from fairduel.instance import Instance
    from fairduel.learners import (
        BradleyTerryThompson,
        FairEpsilonGreedy,
        FairETC,
        FairVOI,
        Learner,
        UniformOverUsers,
    )
    from fairduel.learners.tournament import Tournament, identify
    from fairduel.live import SKIP, TIE, Duel, Recommendation, Session
    from fairduel.offers import Duels, Mix, Play, Script
    from fairduel.paper import reproduce
    from fairduel.simulation import (
        Trajectory,
        linear_checkpoints,
        logarithmic_checkpoints,
        simulate,
    )
    from fairduel.tally import Tally
    from fairduel.welfare import (
        Egalitarian,
        FrankWolfe,
        GeneralizedGini,
        Nash,
        PowerMean,
        Solution,
        Utilitarian,
        Welfare,
    )

__version__ = "0.1.0"

# Names are imported when they are first used: what a session needs takes half a second to import,
# and what runs many simulations takes longer. So the command line can answer Ctrl-C from the first
# moment on, and say what is wrong.
_WHERE = {
    "data": ("solve",),
    "environments": (
        "bradley_terry_instance",
        "clustered_instance",
        "hard_instance",
        "mallows_instance",
        "paper_instances",
        "random_instance",
    ),
    "errors": ("InputError",),
    "experiments": ("Results", "compare"),
    "fitting": ("Fit", "fit"),
    "instance": ("Instance",),
    "learners": (
        "BradleyTerryThompson",
        "FairETC",
        "FairEpsilonGreedy",
        "FairVOI",
        "Learner",
        "UniformOverUsers",
    ),
    "learners.tournament": ("Tournament", "identify"),
    "live": ("SKIP", "TIE", "Duel", "Recommendation", "Session"),
    "offers": ("Duels", "Mix", "Play", "Script"),
    "paper": ("reproduce",),
    "simulation": ("Trajectory", "linear_checkpoints", "logarithmic_checkpoints", "simulate"),
    "tally": ("Tally",),
    "welfare": (
        "Egalitarian",
        "FrankWolfe",
        "GeneralizedGini",
        "Nash",
        "PowerMean",
        "Solution",
        "Utilitarian",
        "Welfare",
    ),
}
_MODULES = {
    name: f"fairduel.{module}" for module, names in _WHERE.items() for name in (module, *names)
}


def __getattr__(name: str) -> object:
    import importlib

    from fairduel.kernels.interrupts import shielded

    if name not in _MODULES:
        raise AttributeError(f"module 'fairduel' has no attribute {name!r}")
    module = shielded(importlib.import_module)(_MODULES[name])
    found = globals()[name] = module if name in _WHERE else getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "SKIP",
    "TIE",
    "BradleyTerryThompson",
    "Duel",
    "Duels",
    "Egalitarian",
    "FairETC",
    "FairEpsilonGreedy",
    "FairVOI",
    "Fit",
    "FrankWolfe",
    "GeneralizedGini",
    "InputError",
    "Instance",
    "Learner",
    "Mix",
    "Nash",
    "Play",
    "PowerMean",
    "Recommendation",
    "Results",
    "Script",
    "Session",
    "Solution",
    "Tally",
    "Tournament",
    "Trajectory",
    "UniformOverUsers",
    "Utilitarian",
    "Welfare",
    "bradley_terry_instance",
    "clustered_instance",
    "compare",
    "environments",
    "fit",
    "hard_instance",
    "identify",
    "linear_checkpoints",
    "logarithmic_checkpoints",
    "mallows_instance",
    "paper_instances",
    "random_instance",
    "reproduce",
    "simulate",
    "solve",
]
