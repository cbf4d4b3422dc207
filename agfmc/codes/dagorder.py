"""The order of classes of a DDAG, so that it is right as often as it can be.

Pavan Kumar and Jawahar, "On Improving the Design of Multiclass Classifiers",
with the recursion carried out for each class by itself: the output is right with
probability V_t for class t, and J = sum_t P_t V_t with the priors P_t.
Shapes: k classes.  An order is a sequence of the classes 0..k-1.
"""

from __future__ import annotations

from math import comb

import numpy as np

from ..errors import UsageError
from .dagbound import branch_and_bound
from .dagsearch import Problem, local_search
from .dagsuccess import success

__all__ = ["MOST_EXACT", "best_order", "class_success", "equal_error_success",
           "expected_accuracy", "greedy_order"]

_RESTARTS = 40
_RESTART_WORK = 4 * 10 ** 8  # about 15 seconds
_WORK = 10 ** 10  # about 5 minutes
MOST_EXACT = 14  # classes; the bounds look at all subsets


def class_success(order, e, h=None):
    """V (k,): the probability that class t is found, for each class t.

    e (k, k): e[i, j] = P(the classifier of {i, j} errs on class i);  h (k, k, k) or
    None: h[t, i, j] = share of class t that the classifier of {i, j}, which does
    not know it, sends to i, so that h[t, j, i] = 1 - h[t, i, j]; None for 1/2.

    For truth t and the list from position a to b, V_t(a, b) is
    (1 - e[t, o_b]) V_t(a, b-1) with t at the left end, (1 - e[t, o_a]) V_t(a+1, b) with t
    at the right end, and h V_t(a, b-1) + (1-h) V_t(a+1, b) inside; O(k^2) per class.
    Raises UsageError for what is no order, and for arrays of another shape.
    """
    order = _checked_order(order)
    problem = _problem(np.zeros(len(order)), e, h)
    result = np.empty(len(order))
    result[order] = success(order[None], problem.keep, problem.h)[0]
    return result


def expected_accuracy(order, priors, e, h=None):
    """J = sum_t P_t V_t; arguments as for `class_success`, priors (k,)."""
    return float(class_success(order, e, h) @ np.asarray(priors, dtype=np.float64))


def equal_error_success(k, q):
    """(k,) success of each position where every classifier errs with probability q, h = 1/2.

    For position i = 1..k the sum over j of R(i, j) (1-q)^j / 2^(k-1-j) with
    R(i, j) = C(k-j-2, i-2) + C(k-j-2, i-j-1); (1-q)^(k-1) at both ends.
    """
    if k < 1:
        raise UsageError(f"expected at least one class, found {k}")
    result = np.full(k, (1.0 - q) ** (k - 1))
    for i in range(2, k):
        result[i - 1] = sum(
            (_choose(k - j - 2, i - 2) + _choose(k - j - 2, i - j - 1)) / 2 ** (k - 1 - j)
            * (1.0 - q) ** j for j in range(1, k))
    return result


def _choose(n, r):
    return comb(n, r) if n >= 0 and r >= 0 else 0


def greedy_order(priors):
    """The best order where all classifiers err alike: rare classes outside, frequent ones inside.

    Ascending by (prior, class), they are placed at the left end, at the right
    end, and so on inward; -> list.
    """
    ranked = sorted(range(len(priors)), key=lambda t: (priors[t], t))
    return ranked[0::2] + ranked[1::2][::-1]


def best_order(priors, e, h=None, exact_up_to=10, seed=1, start=None):
    """(order, J, exact): the order with the largest J, as a list with first < last.

    Arguments as for `class_success`.  For k <= exact_up_to it is the best there is, by
    branch and bound (the time grows tenfold and more with each class: 10 take
    seconds); above, the best of several local searches with swaps and insertions,
    from the greedy and natural orders, from `start`, another order, and from
    `seed`: never worse than any of these.  Raises UsageError for more than 14 exactly.
    """
    if exact_up_to > MOST_EXACT:
        raise UsageError(f"the best order there is can be found for up to {MOST_EXACT} classes, "
                         f"not {exact_up_to}")
    priors = np.asarray(priors, dtype=np.float64)
    problem = _problem(priors, e, h)
    k = len(priors)
    starts = [greedy_order(priors.tolist()), range(k)]
    if start is not None:
        starts.append(_checked_order(start, k))
    exact = k <= max(exact_up_to, 3)
    order, value = local_search(problem, starts, _RESTARTS, seed, _WORK, _RESTART_WORK)
    if exact:
        order, value = branch_and_bound(problem, order, value)
    order = [int(t) for t in order]
    return order if order[0] <= order[-1] else order[::-1], float(value), exact


def _problem(priors, e, h):
    """The `Problem` of arrays that a caller gave."""
    k = len(priors)
    e = np.asarray(e, dtype=np.float64)
    h = None if h is None else np.ascontiguousarray(h, dtype=np.float64)
    if priors.ndim != 1 or k == 0 or e.shape != (k, k) or (h is not None and h.shape != (k,) * 3):
        raise UsageError(f"expected priors or an order of k classes, e of shape (k, k) and h of "
                         f"shape (k, k, k), found {priors.shape}, {e.shape}"
                         + ("" if h is None else f" and {h.shape}"))
    return Problem(priors, 1.0 - e, h)


def _checked_order(order, k=None):
    order = np.asarray(order, dtype=np.intp)
    k = len(order) if k is None else k
    if order.ndim != 1 or not np.array_equal(np.sort(order), np.arange(k)):
        raise UsageError(f"{order.tolist()} is no order of the classes 0 to {k - 1}")
    return order
