"""Slow and independent: what a general solver finds, and the paper's Frank-Wolfe word by word."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import numpy as np

from fairduel._arrays import Floats


def log_nash(scores: Floats, policy: Floats, weights: Floats | None = None) -> float:
    """sum_d w_d log u_d."""
    weights = np.ones(len(scores)) if weights is None else weights
    return math.fsum(weights * np.log(scores @ policy))


def nash_policy(scores: Floats, weights: Floats | None = None) -> Floats:
    """The best policy for the Nash welfare, by a conic interior-point solver."""
    cp = _cvxpy()
    weights = np.ones(len(scores)) if weights is None else weights
    scores = scores / scores.max(axis=1, keepdims=True)  # the same best policy
    policy = cp.Variable(scores.shape[1], nonneg=True)
    objective = weights @ cp.log(scores @ policy)
    problem = cp.Problem(cp.Maximize(objective), [cp.sum(policy) == 1])
    return _solved(problem, policy)


def max_min_policy(scores: Floats) -> Floats:
    """The best policy for the smallest utility, by the same solver."""
    cp = _cvxpy()
    policy = cp.Variable(scores.shape[1], nonneg=True)
    problem = cp.Problem(cp.Maximize(cp.min(scores @ policy)), [cp.sum(policy) == 1])
    return _solved(problem, policy)


def power_mean_policy(scores: Floats, p: float, weights: Floats | None = None) -> Floats:
    """The best policy for a power mean, by the same solver."""
    cp = _cvxpy()
    shares = np.ones(len(scores)) if weights is None else weights
    shares = shares / shares.sum()
    policy = cp.Variable(scores.shape[1], nonneg=True)
    terms = cp.multiply(shares ** (1.0 / p), scores @ policy)
    problem = cp.Problem(cp.Maximize(cp.pnorm(terms, p)), [cp.sum(policy) == 1])
    return _solved(problem, policy)


def gini_policy(scores: Floats, weights: Floats) -> Floats:
    """The best policy for weights of the ranks, worst off first, by the same solver."""
    cp = _cvxpy()
    policy = cp.Variable(scores.shape[1], nonneg=True)
    steps = np.append(-np.diff(weights), weights[-1])
    sums = [
        step * cp.sum_smallest(scores @ policy, count)
        for count, step in enumerate(steps.tolist(), 1)
        if step > 0.0
    ]
    problem = cp.Problem(cp.Maximize(sum(sums)), [cp.sum(policy) == 1])
    return _solved(problem, policy)


def power_mean(utilities: Floats, p: float, weights: Floats) -> float:
    """(sum_d v_d u_d^p)^(1/p), with more digits than others have."""
    u, v = np.asarray(utilities, np.longdouble), np.asarray(weights, np.longdouble)
    if p <= 0.0 and not u.all():
        return 0.0
    logs = np.log(u[u > 0.0])
    shares = (v / v.sum())[u > 0.0]
    if p == 0.0:
        return float(np.exp((shares * logs).sum()))
    top = (p * logs).max()
    return float(np.exp((top + np.log((shares * np.exp(p * logs - top)).sum())) / p))


def power_mean_gap(scores: Floats, policy: Floats, p: float, weights: Floats) -> float:
    """The gap of a policy by Hoelder's inequality, with more digits than others have."""
    rows, v = np.asarray(scores, np.longdouble), np.asarray(weights, np.longdouble)
    u = rows @ np.asarray(policy, np.longdouble)
    h = np.maximum(u, np.longdouble(1e-13) * rows.max(axis=1)) if p > 0.0 else u
    logs = np.log(h)
    parts = v * np.exp(p * logs - (p * logs).max())
    parts = parts / parts.sum()
    most = (parts[:, None] * (rows / h[:, None])).sum(axis=0).max()
    ratio = np.longdouble(1.0)
    if (h > u).any():
        ratio = ((v * h**p).sum() / (v[u > 0.0] * u[u > 0.0] ** p).sum()) ** (1.0 / p)
    return float(most * ratio - 1.0)


def gini(utilities: Floats, weights: Floats) -> float:
    """sum_i w_i u_(i), the lowest utility first."""
    return math.fsum(weights * np.sort(utilities))


def _solved(problem: Any, policy: Any) -> Floats:
    with warnings.catch_warnings():  # that it may be inaccurate: the tests find out how much
        warnings.simplefilter("ignore")
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    found = np.maximum(np.asarray(policy.value, np.float64), 0.0)
    return np.asarray(found / found.sum())


def _cvxpy() -> Any:
    """Slow to import, and half typed."""
    return importlib.import_module("cvxpy")


def certificate(scores: Floats, policy: Floats, weights: Floats | None = None) -> float:
    """max_k sum_d w_d (S[d, k] / u_d - 1), each sum without rounding errors."""
    weights = np.ones(len(scores)) if weights is None else weights
    utilities = scores @ policy
    terms = weights[:, None] * (scores / utilities[:, None] - 1.0)
    return max(math.fsum(column) for column in terms.T)


def frank_wolfe_policies(
    scores: Floats, iterations: int = 300, tolerance: float = 2e-4, floor: float = 1e-12
) -> list[Floats]:
    """All policies of the paper's Frank-Wolfe (Section 5.1), from the uniform to the last."""
    policies = [np.full(scores.shape[1], 1.0 / scores.shape[1])]
    before = -np.inf
    for t in range(iterations):
        utilities = np.maximum(scores @ policies[-1], floor)
        objective = np.log(utilities).sum()
        if abs(objective - before) < tolerance:
            break
        before = objective
        vertex = np.zeros(scores.shape[1])
        vertex[np.argmax((1.0 / utilities) @ scores)] = 1.0
        size = 2.0 / (t + 2.0)
        policies.append((1.0 - size) * policies[-1] + size * vertex)
    return policies
