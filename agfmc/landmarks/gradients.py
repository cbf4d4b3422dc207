"""Gradients of functions on landmarks, and the directions in which these change.

For f_c(x) = sum_j beta_jc K(x, z_j) + b_c with a kernel of a distance,

    grad f_c(x) = sum_j -2 gamma beta_jc K(x, z_j) (x - z_j)             rbf,
                  sum_j -gamma beta_jc K(x, z_j) (x - z_j) / |x - z_j|   exponential,
                  sum_j -gamma beta_jc K(x, z_j) sign(x - z_j)           laplacian,
    G = 1/n sum_i w_i sum_c grad f_c(x_i) grad f_c(x_i)^T ,  n = sum_i w_i ,
    M = d G^(1/2) / trace G^(1/2) .

where the term of a z_j that is x is 0.  G is the average gradient outer product.  M measures
distances, (x - z)^T M (x - z), in which a direction counts as much as it matters to the functions:
Radhakrishnan, Beaglehole, Pandit and Belkin, "Mechanism for feature learning in neural networks and
backpropagation-free machine learning models", Science 383 (2024).
"""

from __future__ import annotations

import numpy as np

from .features import Landmarks

WITH_GRADIENT = ("rbf", "laplacian", "exponential")
_AT_ITSELF = 1e-12  # gamma times a distance below which two points are one


def gradient_products(
    landmarks: Landmarks,
    beta: np.ndarray,
    x: np.ndarray,
    diagonal: bool = False,
    w: np.ndarray | None = None,
) -> np.ndarray:
    """n G (d, d), the sum over points x (n, d) and functions of the outer products of gradients.

    Parameters
    ----------
    landmarks : Landmarks, z (p, d) of a kernel of a distance
    beta : array (p, k), coefficients of the functions
    x : array (n, d), points
    diagonal : bool, only the diagonal (d,) of it, as always of a laplacian kernel
    w : array (n,), optional, weights of the points, None for 1
    """
    values = landmarks.kernel_values(x).T
    kernel, d = landmarks.kernel, x.shape[1]
    root = np.sqrt(np.ones(len(x)) if w is None else w)[:, None]
    if kernel.kind == "laplacian":
        return kernel.gamma**2 * _of_signs(landmarks.z, root * values, beta, x)
    if kernel.kind == "exponential":
        with np.errstate(divide="ignore"):
            distance = -np.log(values) / kernel.gamma
        values /= np.where(distance > _AT_ITSELF / kernel.gamma, distance, np.inf)
    products = np.zeros(d if diagonal else (d, d))
    for column in beta.T:
        weights = values * column
        gradient = root * (x * weights.sum(axis=1)[:, None] - weights @ landmarks.z)
        products += np.einsum("ij,ij->j", gradient, gradient) if diagonal else gradient.T @ gradient
    return (4 if kernel.kind == "rbf" else 1) * kernel.gamma**2 * products


def _of_signs(z, values, beta, x):
    """(d,) sums of the squares of sum_j beta_jc K(x, z_j) sign(x - z_j); values (n, p)."""
    squares = np.empty(x.shape[1])
    for number in range(len(squares)):
        gradient = (np.sign(x[:, number, None] - z[:, number]) * values) @ beta
        squares[number] = np.einsum("ij,ij->", gradient, gradient)
    return squares


def metric_of(products: np.ndarray, floor: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """(M, M^(1/2)) of the matrix G (d, d) or of its diagonal (d,), and any multiple of it.

    The trace of M is d. Of a diagonal both are diagonals (d,). Where G is 0, so that no direction
    matters more than another, M is the unit matrix. With `floor`, (1 - floor) M + floor I stands in
    place of M: a direction in which few points differ, but far, as where one of a hundred has a
    mark, has no gradient between them, and would be lost.
    """
    if products.ndim == 1:
        share, axes = np.sqrt(products), None
    else:
        share, axes = np.linalg.eigh(products)
        share = np.sqrt(np.maximum(share, 0.0))
    total = share.sum()
    share = share / total * len(share) if total > 0 else np.ones(len(share))
    share = (1.0 - floor) * share + floor
    if axes is None:
        return share, np.sqrt(share)
    return (axes * share) @ axes.T, (axes * np.sqrt(share)) @ axes.T
