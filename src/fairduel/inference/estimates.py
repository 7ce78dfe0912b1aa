"""Point estimates of winners and scores, for learners that need no posterior."""

from __future__ import annotations

import numpy as np

from fairduel._arrays import Bools, Floats, Ints
from fairduel.scorings import borda


def _moments(wins: Floats) -> tuple[Floats, Floats]:
    """Return posterior mean and standard deviation of P[d, i, j] under Jeffreys' prior."""
    answers = wins + wins.transpose(0, 2, 1)
    means = (wins + 0.5) / (answers + 1.0)
    return means, np.sqrt(means * (1.0 - means) / (answers + 2.0))


def champions(wins: Floats, candidates: Bools | None = None) -> Ints:
    """Return each user's likeliest Condorcet winner, among ``candidates`` (D, K) if given.

    The arm i with the highest product over j of the probability that i beats j, each from a
    normal approximation of its posterior. It is defined whether or not a user has a Condorcet
    winner; ties go to the lowest index.
    """
    from scipy.special import log_ndtr

    means, stds = _moments(wins)
    beats = log_ndtr((means - 0.5) / stds)
    arms = np.arange(wins.shape[1])
    beats[:, arms, arms] = 0.0
    likelihood = beats.sum(axis=2)
    if candidates is not None:
        likelihood = np.where(candidates, likelihood, -np.inf)
    return np.asarray(likelihood.argmax(axis=1), np.int64)


def guessed_scores(wins: Floats, winners: Ints) -> Floats:
    """Return the posterior mean of the scores s_d(k) = 2 P[d, k, a*_d] (Eq. 1), cut off at 1.

    The mean of min(1, 2 P) and not of 2 P: an arm that was never compared with the winner is not
    as good as the winner. P is taken to be normal.
    """
    from scipy.special import ndtr

    users = np.arange(len(winners))
    means, stds = _moments(wins)
    mean, std = means[users, :, winners], stds[users, :, winners]
    z = (mean - 0.5) / std
    excess = (mean - 0.5) * ndtr(z) + std * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    scores = 2.0 * np.clip(mean - excess, 0.0, 0.5)
    scores[users, winners] = 1.0
    return np.asarray(scores)


def empirical_scores(wins: Floats, winners: Ints) -> Floats:
    """Return scores from the share of duels won; 0 without answers (Algorithm 1, lines 2-5)."""
    users = np.arange(len(winners))
    won = wins[users, :, winners]
    heard = won + wins[users, winners, :]
    scores = np.divide(2.0 * won, heard, out=np.zeros_like(won), where=heard > 0)
    scores[users, winners] = 1.0
    return np.asarray(scores)


def empirical_borda(wins: Floats) -> Floats:
    """Return Borda scores from the share of duels won; 1/2 for pairs without answers."""
    heard = wins + wins.transpose(0, 2, 1)
    return borda(np.divide(wins, heard, out=np.full_like(wins, 0.5), where=heard > 0))
