"""Live use: sessions with named users, who answer at any time."""

from fairduel.live.advice import Advice, advise, advise_duel
from fairduel.live.recommendation import Interval, Recommendation, SessionOutlook
from fairduel.live.session import Session
from fairduel.live.storage import Journal, Storage
from fairduel.live.votes import SKIP, TIE, Duel, Question

__all__ = [
    "SKIP",
    "TIE",
    "Advice",
    "Duel",
    "Interval",
    "Journal",
    "Question",
    "Recommendation",
    "Session",
    "SessionOutlook",
    "Storage",
    "advise",
    "advise_duel",
]
