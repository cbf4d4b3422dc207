"""Normalisation: by hand, against numpy's own decomposition, and the same bits from a file."""

import hashlib
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.errors import AgfmcWarning, DataError, UsageError
from agfmc.data.libagf import read_std, write_std
from agfmc.data import normalisation
from agfmc.data.normalisation import (
    covariance,
    Normalisation,
    feature_share,
    fit_normalisation,
    named_features,
    uneven_features,
)
from own_warnings import no_own_warnings, own_warnings, texts_of


def points(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * rng.uniform(0.01, 100, d) + 3


def test_by_hand():
    std = fit_normalisation(np.array([[1.0, 10], [2, 10], [3, 40]]))
    assert np.array_equal(std.mean, np.float32([2, 20]))
    assert np.array_equal(std.matrix, np.diag(np.float32([1, 1 / np.sqrt(300)])))
    assert std.matrix.dtype == std.mean.dtype == np.float32
    assert std.dropped == ()


def test_features_of_zeros_and_ones_are_not_divided_by_their_deviations():
    rare = np.repeat([1.0, 0], [1, 24])
    x = np.c_[rare, 2 * rare, np.r_[rare[:-1], np.nan], np.arange(25) % 2]
    factors = np.diag(fit_normalisation(x).matrix)
    variances = np.r_[np.nanvar(x[:, [0, 2, 3]], axis=0, ddof=1) / 0.49, 1]
    np.testing.assert_allclose(
        factors * variances.mean() ** 0.25,
        np.r_[1 / 0.7, 1 / np.std(x[:, 1], ddof=1), 1 / 0.7, 1 / 0.7],
        rtol=1e-6,
    )


def test_features_that_are_kept_apart_make_no_square():
    x = points(3, 4)[:, :3].repeat(1000, axis=1)
    x[:, 7] = 1
    tracemalloc.start()
    with own_warnings():
        std = fit_normalisation(x)
    std.apply(x)
    short = std.digest()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20 < std.matrix.nbytes / 2
    digest = hashlib.sha256(std.matrix.tobytes() + std.mean.tobytes()).hexdigest()
    assert short == digest[:16]  # which models have that were trained with the matrix
    again = Normalisation(std.matrix, std.mean, std.dropped)
    assert np.array_equal(again.column, np.delete(np.arange(3000), 7))
    assert np.array_equal(again.scale, std.scale) and again.digest() == short


@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 99))
def test_the_points_end_with_mean_0_and_deviation_1(n, d, seed):
    x = points(n, d, seed)
    out = fit_normalisation(x).apply(x)
    assert out.dtype == np.float64 and np.allclose(out.mean(axis=0), 0, atol=1e-3)
    assert np.allclose(out.std(axis=0, ddof=1), 1, atol=1e-5)


def test_constant_features_are_dropped_and_named():
    x = points(20, 4)
    x[:, 1] = 0.1
    x[:, 3] = 1e9
    with pytest.warns(AgfmcWarning, match=r"^features 1, 3 \(from 0\) are constant"):
        std = fit_normalisation(x)
    assert std.dropped == (1, 3)
    assert std.matrix.shape == (4, 2) and not std.matrix[[1, 3]].any()
    with pytest.warns(AgfmcWarning, match=r"^feature 1 \(from 0\) is constant and was"):
        alone = fit_normalisation(x[:, :3])
    assert np.array_equal(alone.apply(x[:, :3]), std.apply(x))


def test_messages_name_features():
    x = points(20, 25)
    x[:, :23], names = 0.5, [f"f{number}\n" for number in range(25)]
    with named_features(names):
        listed = ", ".join(f"'f{number}\\\\n'" for number in range(20))
        with pytest.warns(AgfmcWarning, match=f"^features {listed} and 3 more are constant and"):
            assert fit_normalisation(x).dropped == tuple(range(23))
        with pytest.warns(AgfmcWarning, match=r"^feature 0 \(from 0\) is constant"):  # other ones
            fit_normalisation(x[:, 22:])
        with named_features("abc"), pytest.warns(AgfmcWarning, match="^feature 'a' is constant"):
            fit_normalisation(x[:, 22:])
        with named_features("ab"), pytest.raises(DataError, match="of feature 'b' are too large"):
            fit_normalisation(np.array([[1.0, 1e39], [2, 2e39]]))
    with pytest.warns(AgfmcWarning, match=r"^features 0, 1, .* 22 \(from 0\) are constant"):
        fit_normalisation(x)


def test_a_feature_that_varies_too_little_to_be_stored_is_dropped():
    x = points(5, 2)
    x[:, 0] = [0, 0, 0, 0, 1e-42]
    with pytest.warns(
        AgfmcWarning,
        match=r"^feature 0 \(from 0\) varies and was left out: by "
        r"1e-42 at most, .*: multiply the data",
    ):
        assert fit_normalisation(x).dropped == (0,)
    with own_warnings() as told:
        assert fit_normalisation(np.c_[np.ones(5), 1e-200 * x[:, 1], x]).dropped == (0, 1, 2)
    assert [text.partition(" and ")[0] for text in texts_of(told)] == [
        "feature 0 (from 0) is constant",
        "features 1, 2 (from 0) vary",
    ]


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("nsv", [1, 3, 5])
def test_singular_vectors_against_the_decomposition_of_the_whole(scale, nsv):
    x = points(60, 5)
    before = x.copy()
    z = x - x.mean(axis=0)
    factor = 1 / x.std(axis=0, ddof=1) if scale else np.ones(5)
    _, _, right = np.linalg.svd(z * factor, full_matrices=False)
    matrix = fit_normalisation(x, scale=scale, nsv=nsv).matrix / factor[:, None]
    assert np.array_equal(x, before) and matrix.shape == (5, nsv)
    for got, expected in zip(matrix.T, right):
        assert got[np.argmax(np.abs(got))] > 0
        expected = expected * np.sign(expected[np.argmax(np.abs(expected))])
        assert np.allclose(got, expected, atol=1e-5)


def test_a_constant_feature_has_no_part_in_singular_vectors():
    x = points(30, 4)
    wide = np.insert(x, 2, 7.0, axis=1)
    with pytest.warns(AgfmcWarning):
        std = fit_normalisation(wide, nsv=2)
    assert np.array_equal(np.delete(std.matrix, 2, axis=0), fit_normalisation(x, nsv=2).matrix)
    assert std.dropped == (2,) and not std.matrix[2].any()


@pytest.mark.parametrize("nsv", [None, 3])
def test_a_file_gives_the_same_bits(tmp_path, nsv):
    x = np.insert(points(50, 5), 2, 1.0, axis=1)
    with pytest.warns(AgfmcWarning):
        std = fit_normalisation(x, nsv=nsv)
    write_std(tmp_path / "a.std", std)
    again = read_std(tmp_path / "a.std")
    assert again.dropped == std.dropped == (2,)
    assert again.apply(x).tobytes() == std.apply(x).tobytes()


@pytest.mark.parametrize("nsv, features", [(None, 13), (7, 13), (50, 60)])
@pytest.mark.parametrize("products", [False, True])
@pytest.mark.few(4)
def test_a_point_has_the_same_bits_in_any_block(nsv, features, products):
    x = points(3000, features)
    std = fit_normalisation(x, nsv=nsv)
    whole = std.apply(x, products)
    assert np.allclose(whole, (x - std.mean) @ std.matrix.astype(float), rtol=1e-12, atol=1e-12)
    for rows in (1, 7, 1500):
        parts = [std.apply(x[i : i + rows], products) for i in range(0, 3000, rows)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()


def test_single_precision_points_are_summed_in_double():
    x = np.float32(1e6) + np.arange(2000, dtype=np.float32)[:, None] % 3
    std = fit_normalisation(x)
    assert std.matrix[0, 0] == np.float32(1 / x.astype(float).std(ddof=1))


@pytest.mark.parametrize("block", [1, 10, 1000])
def test_blocks_do_not_matter_beyond_rounding(monkeypatch, block):
    x = points(100, 4)
    whole = fit_normalisation(x, nsv=2)
    monkeypatch.setattr(normalisation, "_BLOCK", block)
    assert np.allclose(fit_normalisation(x, nsv=2).matrix, whole.matrix, rtol=1e-6)


@pytest.mark.parametrize(
    "x, options, error, message",
    [
        (points(1, 3), {}, DataError, "two points"),
        (np.empty((0, 3)), {}, DataError, "two points"),
        (np.ones((4, 3)), {}, DataError, "every feature is constant"),
        (
            np.array([[1.0, 0], [1.0, 3e-42]]),
            {},
            DataError,
            "no feature varies by more than 3e-42, .*: multiply the data by a power of ten",
        ),
        (points(9, 3), {"scale": False}, UsageError, "standard deviations or singular values"),
        (points(9, 3), {"nsv": 0}, UsageError, "1 or more, not 0"),
        (points(9, 3), {"nsv": 4}, DataError, "4 singular values are too many: 3 features vary"),
        (points(3, 5), {"nsv": 3}, DataError, "the points span 2 dimensions"),
        (np.array([[1.0, 1e39], [2, 2e39]]), {}, DataError, r"feature 1 \(from 0\) are too large"),
        (np.array([[1.0, 1e200], [2, -1e200]]), {}, DataError, r"feature 1 \(from 0\)"),
    ],
)
def test_points_that_cannot_be_normalised(x, options, error, message):
    with no_own_warnings():
        with pytest.raises(error, match=message):
            fit_normalisation(x, **options)


@pytest.mark.parametrize("nsv", [None, 1])
def test_a_feature_that_the_stored_factor_would_wipe_out_is_refused(nsv):
    x = np.array([[1.0, -1e46], [2, 1e46], [4, 1e46], [5, -1e46]])  # its mean is 0
    with pytest.raises(DataError, match="the values of feature 1 .* are too large"):
        fit_normalisation(x, nsv=nsv)
    with no_own_warnings():
        fitted = fit_normalisation(x * [1, 1e-8], nsv=nsv)  # float32 holds its factor
    scaled = fitted.apply(x * [1, 1e-8])
    np.testing.assert_allclose(scaled.std(axis=0, ddof=1)[-1], 1, atol=0.5 if nsv else 1e-6)


# The covariance matrix


@pytest.mark.parametrize(
    "scale, found",
    [
        ((1, 1, 1), None),
        ((1, 1.6, 1), None),
        ((1, 9, 1), (1, 0)),
        ((1, 0.01, 30), (2, 1)),
        ((0, 1, 1.5), None),
        ((1e100, 1, 1), (0, 1)),
        ((1e-100, 1, 1), None),  # two of three count
    ],
)
def test_features_of_unequal_scales(scale, found):
    x = np.random.default_rng(0).normal(size=(20000, 3)) * scale
    uneven = uneven_features(x)
    assert (uneven is None) == (found is None)
    if found:
        large, small, ratio = uneven
        assert large == found[0] and scale[small] == scale[found[1]]
        assert ratio == pytest.approx(x[:, large].std() / x[:, small].std(), rel=0.1)
    assert uneven_features(x[:5]) is None


def test_effective_share_of_features_by_hand():
    x = np.array([[0, 0, 7, 0.0], [2, 4, 7, np.nan], [4, 8, 7, 2]])
    v = np.array([4, 16, 2])  # of the features that vary
    assert feature_share(x) == pytest.approx(22**2 / (3 * np.sum(v**2)))
    assert feature_share(np.ones((4, 2))) == 1
    assert feature_share(np.diag([1.0, 100, 1, 1, 1])) == 1  # most values are 0
    w = np.array([2, 1, 0.0])
    assert feature_share(x, w) == pytest.approx(feature_share(x[[0, 0, 1]]))


def test_covariance_by_hand():
    got = covariance(np.float32([[1, 10], [2, 10], [3, 40]]))
    assert got.tolist() == [[1, 15], [15, 300]] and got.dtype == np.float64


@pytest.mark.parametrize("block", [1, 10, 1 << 20])
def test_covariance_against_numpy(monkeypatch, block):
    monkeypatch.setattr(normalisation, "_BLOCK", block)
    x = np.random.default_rng(1).normal(size=(70, 4)) @ np.diag([1, 1e3, 1e-3, 1]) + 1e3
    before = x.copy()
    assert np.allclose(covariance(x), np.cov(x, rowvar=False), rtol=1e-9)
    assert np.array_equal(x, before)


@pytest.mark.parametrize(
    "x, message", [(np.ones((1, 2)), "two points"), (np.array([[1e200], [-1e200]]), "too large")]
)
def test_points_without_a_covariance(x, message):
    with no_own_warnings():
        with pytest.raises(DataError, match=message):
            covariance(x)


@pytest.mark.parametrize("how", [{}, {"nsv": 2}, {"scale": False, "nsv": 3}])
def test_whole_weights_are_copies(how, monkeypatch):
    monkeypatch.setattr("agfmc.data.normalisation._BLOCK", 40)
    rng = np.random.default_rng(7)
    x = rng.normal(size=(50, 4)) * [1, 2, 3, 4] + 5
    w = rng.integers(1, 5, 50)
    made = fit_normalisation(x, **how, w=w.astype(float))
    copies = fit_normalisation(np.repeat(x, w, axis=0), **how)
    assert np.allclose(made.matrix, copies.matrix, rtol=1e-6, atol=1e-7)
    assert np.allclose(made.mean, copies.mean, rtol=1e-6)
    assert not np.allclose(made.mean, fit_normalisation(x, **how).mean, rtol=1e-4)


def test_weights_that_sum_to_one_are_as_good_as_others():
    x = np.random.default_rng(3).normal(size=(20, 3))
    shares, plain = fit_normalisation(x, w=np.full(20, 1 / 20)), fit_normalisation(x)
    np.testing.assert_allclose(shares.mean, plain.mean, rtol=1e-6)
    np.testing.assert_allclose(shares.matrix, plain.matrix, rtol=1e-6)


def test_many_features_make_no_second_square():
    width = 1500
    x = np.random.default_rng(0).normal(size=(5, width))
    tracemalloc.start()
    normalisation = fit_normalisation(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * normalisation.matrix.nbytes
    factor = 1 / x.std(axis=0, ddof=1)
    np.testing.assert_array_equal(normalisation.matrix, np.diag(factor).astype(np.float32))
