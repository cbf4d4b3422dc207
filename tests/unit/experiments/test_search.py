"""The search: grids, refinement, ties and borders, on scores that are known."""

import math

import pytest

from agfmc.control.learners import LEARNERS
from agfmc.core.errors import UsageError
from agfmc.experiments.search import (
    Axis,
    BEYOND,
    Grid,
    number_text,
    Point,
    power,
    read_space,
    scale_exponent,
    Search,
    SearchedOptions,
    SearchSpace,
)
from agfmc.learners.protocol import learner_class, parse_options

RBF = Grid("rbf", 0, 0.0, Axis(-1, 9, 2), Axis(-8, 0, 2))


def run(grids, score, refine=2, sign=1):
    """(search, rounds of points) after the scores of all its points were recorded."""
    search, rounds = Search(grids, refine, sign), []
    while points := search.next_points():
        assert not set(points) & set(search.scores) and len(set(points)) == len(points)
        rounds.append(points)
        for point in points:
            search.record(point, score(point))
    return search, rounds


def peak(c, g, tilt=0.7):
    """A hill in C and gamma that runs along a diagonal, as those of real data do."""
    return lambda point: (
        -((point.log2c - c) ** 2)
        - (point.log2g - g) ** 2
        - tilt * (point.log2c - c) * (point.log2g - g)
    )


def test_axis_values_and_limits():
    assert Axis(-1, 9, 2).values == [-1, 1, 3, 5, 7, 9]
    assert Axis(-1, 8.5, 2).values == [-1, 1, 3, 5, 7]
    assert Axis(0, 0.3, 0.1).values == [0, 0.1, 0.2, 0.3]
    assert Axis(-1, 8.5, 2).limits == (-1 - 2 * BEYOND, 7 + 2 * BEYOND)
    assert Axis(3, 3, 2).values == [3] and Axis(3, 3, 2).limits == (3, 3)
    assert Axis(-4, 4, 2).moved(-5) == Axis(-9, -1, 2)


def test_first_round_is_the_grid_middle_gamma_first():
    first = Search([RBF]).next_points()
    assert sorted((p.log2g, p.log2c) for p in first) == [
        (g, c) for g in (-8, -6, -4, -2, 0) for c in (-1, 1, 3, 5, 7, 9)
    ]
    assert [p.log2g for p in first][::6] == [-4, -6, -2, -8, 0]
    assert [p.log2c for p in first][:6] == [-1, 1, 3, 5, 7, 9]


@pytest.mark.parametrize("c, g", [(4, -3), (4.5, -3.5), (0.5, -7.5), (9, 0), (3, -4)])
def test_the_optimum_is_found_to_half_a_unit(c, g):
    search, rounds = run([RBF], peak(c, g))
    assert (search.best.log2c, search.best.log2g) == (c, g) and search.border(search.best) == []
    assert len(search.scores) <= 30 + 30 and search.ranked[0] == search.best


def test_each_refinement_halves_the_step():
    for refine, step in ((0, 2), (1, 1), (2, 0.5), (4, 0.125)):
        search, rounds = run([RBF], peak(4.3, -3.2), refine)
        c, g = search.best.log2c, search.best.log2g
        assert (c % step, g % step) == ((1 % step), 0)
        assert abs(c - 4.3) <= step and abs(g + 3.2) <= step
        moved = {p.log2c % step for p in search.scores}
        assert moved <= {1 % step} and any(p.log2c == c + step for p in search.scores)


def test_grid_is_extended_beyond_its_border_and_no_further_than_the_limit():
    search, rounds = run([RBF], peak(13, -6))
    assert (search.best.log2c, search.best.log2g) == (13, -6) and search.border(search.best) == []
    assert not any(point.log2c > 9 for point in rounds[0])
    search, _ = run([RBF], lambda point: point.log2c - 2 * abs(point.log2g + 4))
    assert search.best.log2c == 9 + 2 * BEYOND == max(p.log2c for p in search.scores)
    assert search.border(search.best) == [("C", "high")]
    search, _ = run([RBF], lambda point: -point.log2c - point.log2g)
    assert search.border(search.best) == [("C", "low"), ("gamma", "low")]
    # only near the best
    assert len([p for p in search.scores if p.log2c < -1 or p.log2g < -8]) < 25


def test_border_says_nothing_where_others_are_as_good():
    search, _ = run([RBF], lambda point: 1.0)
    assert (search.best.log2c, search.best.log2g) == (-7, -14) and search.border(search.best) == []


def test_single_values_are_kept():
    search, _ = run([RBF._replace(c=Axis(3, 3, 2))], peak(5, -3))
    assert {point.log2c for point in search.scores} == {3} and search.border(search.best) == []


@pytest.mark.parametrize(
    "grids, score, best",
    [
        ("linear rbf", lambda point: point.log2c >= 3, Point("linear", 0, 0.0, None, 3)),
        (
            "rbf linear",
            lambda point: point.log2c + (point.log2g or 0) > 0,
            Point("rbf", 0, 0.0, 0, 1),
        ),
        ("rbf", lambda point: point.log2c == 5, Point("rbf", 0, 0.0, -8, 5)),
    ],
)
def test_ties_go_to_the_first_grid_then_small_c_then_small_gamma(grids, score, best):
    known = {"linear": Grid("linear", 0, 0.0, Axis(-1, 9, 2), None), "rbf": RBF}
    search = Search([known[name] for name in grids.split()], 0)
    assert search.best is None
    for point in search.next_points():
        search.record(point, float(score(point)))
    assert search.best == best


def test_smaller_is_better_for_other_scores():
    search, _ = run([RBF], lambda point: -peak(4, -3)(point), sign=-1)
    assert (search.best.log2c, search.best.log2g) == (4, -3)


def test_points_that_failed_are_never_the_best():
    search, _ = run([RBF], lambda point: None if point.log2c < 5 else peak(1, -4)(point))
    assert search.best.log2c == 5
    search, rounds = run([RBF], lambda point: None)
    assert search.best is None and len(rounds) == 1


def test_each_kernel_is_refined_around_its_best_point():
    """What is best on the coarse grid need not be the best of all."""
    grids = SearchSpace(("rbf", "polynomial"), (2, 3), (0.0,)).grids(-4.0)

    def score(point):
        if point.kernel == "rbf":
            return peak(4.5, -3.5)(point)
        return (-0.2 if point.degree == 3 else -0.6) - abs(point.log2c - 3) / 100

    search, rounds = run(grids, score)
    coarse = max(rounds[0], key=score)
    assert (coarse.kernel, coarse.degree) == ("polynomial", 3)
    assert search.best == Point("rbf", 0, 0.0, -3.5, 4.5)
    later = {point[:2] for points in rounds[1:] for point in points}
    assert later == {("rbf", 0), ("polynomial", 3)}


def test_a_race_takes_smaller_steps_around_the_best_kernel_alone():
    grids = SearchSpace(("rbf", "laplacian")).grids(-4.0)
    start = [grid.points[len(grid.points) // 2] for grid in grids]
    search = Search(grids, 1, 1, start)
    assert search.next_points() == start
    for point, score in zip(start, (0.5, 0.6)):
        search.record(point, score)
    assert {point.kernel for point in search.next_points()} == {"laplacian"}


def test_grids_of_kernels():
    grids = SearchSpace(("rbf", "linear", "polynomial"), range(1, 4)).grids(-5.0)
    assert [(g.kernel, g.degree, g.coef0) for g in grids] == [
        ("rbf", 0, 0.0),
        ("linear", 0, 0.0),
        ("polynomial", 2, 0.0),
        ("polynomial", 2, 1.0),
        ("polynomial", 3, 0.0),
        ("polynomial", 3, 1.0),
    ]
    assert grids[0].g == Axis(-9, -1, 2) and grids[0].c == Axis(-1, 9, 2)
    assert grids[1].g is None and grids[1].c == Axis(-6, 4, 2)
    # homogeneous: gamma is a factor of C
    assert grids[2].g == -5.0 and grids[3].g == Axis(-7, -3, 2)
    alone = SearchSpace(("polynomial",), range(1, 3), (1.0, 0.0)).grids(-5.0)
    assert [(g.degree, g.coef0, g.g == -5.0) for g in alone] == [
        (1, 1.0, True),
        (2, 1.0, False),
        (2, 0.0, True),
    ]
    own = SearchSpace(("linear", "rbf"), (), (), Axis(0, 4, 1), Axis(-3, 0, 1)).grids(-5.0)
    assert own[0].c == own[1].c == Axis(0, 4, 1) and own[1].g == Axis(-3, 0, 1)


def test_scale_is_that_of_the_variances():
    x = [[-1.0, 2.0, 0.0], [1.0, -2.0, 0.0]]  # variances 1, 4, 0
    assert scale_exponent(x) == round(-math.log2(5)) == -2
    assert scale_exponent([[1.0], [1.0]]) == 0.0


@pytest.mark.parametrize(
    "point, text",
    [
        (Point("rbf", 0, 0.0, -7, 5), "-g 0.0078125 -c 32"),
        (Point("rbf", 0, 0.0, -3.5, 0.5), "-g 0.0884 -c 1.41"),
        (Point("linear", 0, 0.0, None, -2), "-t 0 -c 0.25"),
        (Point("polynomial", 3, 1.0, -4, 15), "-t 1 -d 3 -g 0.0625 -r 1 -c 32768"),
        (Point("polynomial", 2, 0.0, -4, 0), "-t 1 -d 2 -g 0.0625 -c 1"),
        (Point("rbf", 0, 0.0, -20, 20), "-g 9.5367431640625e-07 -c 1048576"),
    ],
)
def test_options_of_a_point(point, text):
    assert point.text() == text and point.text("-h 0") == text + " -h 0"
    options = parse_options(text)
    assert options.C == power(point.log2c)
    assert point.log2g is None or options.gamma == power(point.log2g)


def test_numbers_are_exact_and_short():
    assert [number_text(v) for v in (32.0, 0.1, 2.0**-7, 1e-05)] == [
        "32",
        "0.1",
        "0.0078125",
        "1e-05",
    ]
    assert power(3) == 8.0 and power(0.5) == 1.41 and power(-0.25) == 0.841


@pytest.mark.parametrize(
    "base, fixed, given",
    [
        ("", "", "-c 1"),
        ("-h 0", "-h 0", "-c 1 -h 0"),
        ("-c 50 -g 0.10", "", "-g 0.1 -c 50"),
        ("-q -e 0.01 -c 5 -w0 2", "-e 0.01 -w0 2", "-c 5 -e 0.01 -w0 2"),
        ("-t 1 -r 1", "", "-t 1 -d 3 -r 1 -c 1"),
        ("-t 0 -g 3", "", "-t 0 -c 1"),
        ("-g 0 -b 1", "", "-c 1"),
        ("-s 0 -t 3 -c 2", "-s 0", "-t 3 -c 2 -s 0"),
        ("learner=svm -c 2", "", "-c 2"),
        ("learner=nystrom", "learner=nystrom", "learner=nystrom"),
        (
            "learner=nystrom -l auto -g .5 -q -m 9 -t 1 -d 2",
            "learner=nystrom -l auto -m 9",
            "learner=nystrom -t 1 -d 2 -g 0.5 -l auto -m 9",
        ),
        ("learner=linear -R -c 3 -q -s 2", "learner=linear -R -s 2", "learner=linear -c 3 -R -s 2"),
        ("learner=logistic", "learner=logistic", "learner=logistic -c 1"),
    ],
)
def test_what_the_base_options_keep(base, fixed, given):
    options = SearchedOptions(base)
    assert options.fixed == fixed and options.given == given
    assert parse_options(given).canonical() == parse_options(base).canonical()


@pytest.mark.parametrize(
    "base",
    [
        "-s 1",
        "-x 3",
        "-c",
        "learner=nothing",
        "learner=K",
        "learner=nystrom -c 1",
        "learner=linear -g 1",
    ],
)
def test_base_options_that_cannot_be(base):
    with pytest.raises(UsageError):
        SearchedOptions(base)


def test_a_learner_without_c_has_one_axis():
    grids = SearchSpace(
        ("linear", "rbf"), searched=LEARNERS["nystrom"].searched, log2g=Axis(-3.0, 1.0, 2.0)
    ).grids(0.0)
    search, rounds = run(grids, lambda point: -abs((point.log2g or 9.0) + 3.6))
    assert [(point.log2g, point.log2c) for point in rounds[0]] == [
        (None, None),
        (-1.0, None),
        (-3.0, None),
        (1.0, None),
    ]
    assert search.best.log2g == -3.5
    assert search.best.text("learner=nystrom -m 7") == "learner=nystrom -g 0.0884 -m 7"
    search = run(grids, lambda point: point.log2g or 0.0)[0]
    assert search.border(search.best) == [("gamma", "high")]


# -- the table of what is searched -----------------------------------------------------------------


def space_of(code=None, base="", **axes):
    return SearchSpace(**axes).for_options(SearchedOptions(base, code))


@pytest.mark.parametrize("name", [name for name, row in LEARNERS.items() if row.searched])
def test_every_learner_has_points_that_it_understands(name):
    code = name if LEARNERS[name].sides is None else None
    options = SearchedOptions("" if code else f"learner={name}", code)
    given = options.point(4)
    assert learner_class(name).parse("").canonical() == options.options.canonical()
    points = [
        point for grid in SearchSpace().for_options(options).grids(-2.0) for point in grid.points
    ]
    assert len(set(points)) == len(points) > 4
    for point in points:
        text = point.text(options.fixed)
        parsed = SearchedOptions(text, code)
        assert parsed.fixed == options.fixed and parsed.point(4) == point
        assert parsed.options.canonical() != options.options.canonical() or point == given


def test_planes_have_one_axis_that_moves_with_the_scale():
    [grid] = space_of(base="learner=linear").grids(-5.0)
    (own,) = LEARNERS["linear"].searched
    assert grid.c == Axis(own.low - 5, own.high - 5, own.step)
    assert (grid.kernel, grid.g) == (None, None)
    [grid] = space_of(base="learner=logistic -e .1", log2c=Axis(0.0, 4.0, 2.0)).grids(-5.0)
    assert [point.text("learner=logistic -e .1") for point in grid.points] == [
        f"learner=logistic -c {c} -e .1" for c in (1, 4, 16)
    ]
    [grid] = space_of("L").grids(-5.0)  # the smaller the ridge, the larger is C
    (own,) = LEARNERS["L"].searched
    assert grid.c == Axis(own.low + 5, own.high + 5, own.step)


@pytest.mark.parametrize(
    "base, kernels",
    [
        ("", ["rbf", "laplacian"]),
        ("-c 5", ["rbf", "laplacian"]),
        ("learner=nystrom", ["rbf", "laplacian"]),
        ("-t laplacian", ["laplacian"]),
        ("-t 0 -c 5", ["linear"]),
        ("-t 2 -g 1", ["rbf"]),
        ("-t 1 -d 3", ["polynomial"] * 11),
        ("learner=nystrom -t 0", ["linear"]),
    ],
)
def test_the_kernel_of_the_options_is_searched_where_none_is_named(base, kernels):
    assert [grid.kernel for grid in space_of(base=base).grids(0.0)] == kernels
    assert [grid.kernel for grid in space_of(base=base, kernels=("rbf",)).grids(0.0)] == ["rbf"]


def test_numbers_of_neighbours_are_whole_and_at_least_one():
    [grid] = space_of("K").grids(-5.0)
    assert [point.text() for point in grid.points] == [f"-k {2**i}" for i in range(7)]
    assert grid.points[0]._replace(log2c=60.0).text() == f"-k {2**60}"
    search, _ = run([grid], lambda point: -point.log2c)
    assert search.best.text() == "-k 1" and search.border(search.best) == []
    assert min(point.log2c for point in search.scores) == 0.0
    search, _ = run([grid], lambda point: -abs(point.log2c - 2.6))
    assert search.best.text() == "-k 6" and search.best.log2c == 2.5
    search = run([grid], lambda point: point.log2c)[0]
    assert search.border(search.best) == [("k", "high")]


def test_trees_have_a_learning_rate_and_leaves():
    base = "learner=trees -n 50 -l 15"
    options = SearchedOptions(base)
    assert (
        options.given == "learner=trees -r 0.08 -l 15 -n 50"
        and options.fixed == "learner=trees -n 50"
    )
    [grid] = space_of(base=base).grids(-5.0)
    assert (
        len(grid.points) == 9
        and grid.points[0].text(options.fixed) == "learner=trees -r 0.125 -l 8 -n 50"
    )
    search, _ = run([grid], lambda point: -point.log2c + point.log2g)
    assert search.best.text(options.fixed) == "learner=trees -r 1 -l 2 -n 50"
    assert search.border(search.best) == []  # no value is beyond
    [grid] = space_of(base=base, others={"log2rate": Axis(-3, -3, 1)}).grids(0.0)
    assert [point.text() for point in grid.points] == [f"-r 0.125 -l {n}" for n in (8, 32, 128)]


@pytest.mark.parametrize(
    "code, base, space, message",
    [
        (
            None,
            "learner=trees",
            {"others": {"log2rate": Axis(0, 1, 1)}},
            "exponents up to 0, found 1",
        ),
        (None, "learner=trees", {"others": {"log2leaves": Axis(0, 1, 1)}}, "from 1 on, found 0"),
        (None, "learner=linear", {"log2g": Axis(0, 1, 1)}, "space: learner=linear has no gamma"),
        (
            None,
            "learner=logistic",
            {"kernels": ("rbf",)},
            "space: learner=logistic has no kernel",
        ),
        (None, "learner=nystrom", {"log2c": Axis(0, 1, 1)}, "space: learner=nystrom has no C"),
        (None, "", {"others": {"log2k": Axis(0, 1, 1)}}, "space: learner=svm has no k"),
        ("K", "", {"log2c": Axis(0, 1, 1)}, "space: K has no C"),
        ("K", "", {"others": {"log2k": Axis(-1, 1, 1)}}, "expected exponents from 0 on, found -1"),
        (
            None,
            "",
            {"log2c": Axis(3, 1, 1)},
            "space: C: there is no value from 3 to 1 in steps of 1",
        ),
        (
            None,
            "-t 3",
            {},
            r"the sigmoid kernel \(-t 3\) cannot be searched: choose others for the space",
        ),
        (None, "", {"kernels": ()}, "no point to try"),
        (None, "", {"kernels": ("polynomial",), "degrees": ()}, "no point to try"),
        (None, "", {"kernels": ("polynomial",), "coefficients": ()}, "no point to try"),
        ("G", "true", {}, r"nothing to tune: G \(external command\) has no parameter"),
    ],
)
def test_what_cannot_be_searched(code, base, space, message):
    with pytest.raises(UsageError, match=message):
        space_of(code, base, **space).grids(0.0)


def test_a_space_as_text():
    space = read_space("C=-5:15:2 gamma=-3 rate=-4:-2 degree=1:6 coef0=0,1 kernel=RBF,poly", 2)
    assert space == SearchSpace(
        ("rbf", "polynomial"),
        range(1, 7),
        (0.0, 1.0),
        Axis(-5.0, 15.0, 2.0),
        Axis(-3.0, -3.0, 2.0),
        2,
        {"log2rate": Axis(-4.0, -2.0, 2.0)},
    )
    assert read_space("k=3 k=2") == read_space("k=2")
    assert read_space("") == SearchSpace() and read_space("degree=4").degrees == range(4, 5)


@pytest.mark.parametrize(
    "text, message",
    [
        *(
            (f"C={text}", "space: C: expected exponents of 2 from -60 to 60, LO:HI")
            for text in ("3:1", "1:99", "1:2:3:4", "1:2", "0:5:0", "-60:60:1", "nan", "x", "")
        ),
        *(
            (f"degree={text}", "space: degree: expected whole numbers from 1 to 100, LO:HI or")
            for text in ("3:2", "0:2", "1:2:3", "1.5", "101")
        ),
        ("coef0=0,inf", "space: coef0: expected numbers, found '0,inf'"),
        ("kernel=rbf,cubic", "space: kernel: expected linear, polynomial, rbf, laplacian, expone"),
        ("C", "space: C: expected exponents"),
        (
            "nu=3",
            "space: expected NAME=VALUES, a name of C, gamma, .*, found 'nu=3'",
        ),
    ],
)
def test_a_space_that_cannot_be_read(text, message):
    with pytest.raises(UsageError, match=message):
        read_space(text)


def test_the_bounds_of_an_axis_stay_those_that_are_given():
    space = SearchSpace(("rbf", "laplacian"), log2c=Axis(-1.0, 9.0, 2.0, most=11.0))
    assert [grid.c.most for grid in space.grids(0.0)] == [11.0, 11.0]
