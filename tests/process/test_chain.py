"""The chain of commands on small data: from text to scores, every way round the same bytes."""

import json

import numpy as np
import pytest


def classes(place, base):
    return np.frombuffer((place / f"{base}.cls").read_bytes(), "<i4")


def confidence(place, base):
    return np.frombuffer((place / f"{base}.con").read_bytes(), "<f4")


def table(text):
    return np.array([line.split() for line in text.decode().splitlines()], dtype=float)


def test_from_text_to_scores(place):
    out = place.shell(
        "svm2agf trn.svm a; agf_preprocess -f 0.25 --stratified a b c;"
        "print_control -Q 0 b | multi_borders -n b n nctl; mbh2mbm -a n.std nctl n.mbm;"
        "classify_m --header n.mbm c.vec out > p; eval_uc -b -H c.cls out p")
    truth, answers = classes(place, "c"), classes(place, "out")
    accuracy, uncertainty = map(float, out.split())
    assert accuracy == round(np.mean(truth == answers), 4)
    assert accuracy > 0.7 and 0 < uncertainty <= 1
    assert sorted(set(classes(place, "b"))) == sorted(set(truth)) == [2, 5, 9]


def test_columns_are_the_labels_in_order(place):
    out = place.ok("classify_m", "--header", "all.mbm", "tst.vec", "out").splitlines(True)
    assert out[0] == b"labels 2 5 9\n"
    rows = table(b"".join(out[1:]))
    assert rows.shape == (60, 4)
    assert np.array_equal(np.array([2, 5, 9])[rows[:, :3].argmax(axis=1)], rows[:, 3])
    assert np.array_equal(rows[:, 3], classes(place, "out"))
    assert np.mean(classes(place, "out") == classes(place, "tst")) > 0.8
    assert np.allclose((3 * rows[:, :3].max(axis=1) - 1) / 2, confidence(place, "out"), atol=2e-6)


def test_raw_values_have_one_column_for_each_model(place):
    f = table(place.ok("classify_m", "-0", "ctl", "tst.vec", "out"))
    r = table(place.ok("classify_m", "-Q", "-1", "ctl", "tst.vec", "out"))
    assert f.shape == r.shape == (60, 3)
    assert np.abs(r).max() <= 1 < np.abs(f).max()


@pytest.mark.parametrize("words, stdin", [
    (["-M", "plan", "trn.svm"], None), (["-M", "plan", "-"], "trn.svm"),
    (["-A", "plan", "trn.lvq"], None), (["trn"], "plan"), (["-", "trn"], "plan")],
    ids=["-M", "-M -", "-A", "control from a pipe", "control -"])
def test_every_kind_of_input_gives_the_same_models(place, words, stdin):
    place.ok("multi_borders", *words, "t", "tctl",
             stdin=(place / stdin).read_bytes() if stdin else b"")
    for row in ("00", "01", "02"):
        assert (place / f"t-{row}").read_bytes() == (place / f"m-{row}").read_bytes()


@pytest.mark.parametrize("words, stdin", [
    (["all.mbm", "-"], "tst.vec"), (["-M", "all.mbm", "tst.svm"], None),
    (["-M", "all.mbm", "-"], "tst.svm"), (["-A", "all.mbm", "tst.lvq"], None),
    (["-A", "all.mbm", "-"], "tst.lvq"), (["-", "tst.vec"], "ctl"), (["-", "tst.vec"], "all.mbm")],
    ids=["pipe", "-M", "-M pipe", "-A", "-A pipe", "control pipe", "model pipe"])
def test_every_kind_of_points_gives_the_same_answers(place, words, stdin):
    wanted = place.ok("classify_m", "all.mbm", "tst.vec", "one")
    out = place.ok("classify_m", *words, "two",
                   stdin=(place / stdin).read_bytes() if stdin else b"")
    assert out == wanted
    assert (place / "one.con").read_bytes() == (place / "two.con").read_bytes()


def test_words_as_labels_keep_their_names(place):
    place.shell("svm2agf trn-words.svm w; svm2agf --names w.names tst-words.svm v;"
                "print_control w > wplan; multi_borders wplan w wm wctl; mbh2mbm wctl w.mbm")
    assert (place / "w.names").read_text() == "birch\nmoss\npine\n"
    assert b"# class 1: moss\n" in (place / "wplan").read_bytes()
    assert b"# class 1: moss\n" in (place / "wctl").read_bytes()
    assert b"3: 0 birch, 1 moss, 2 pine\n" in place.ok("mbm_info", "w.mbm")
    described = json.loads(place.ok("mbm_info", "--json", "w.mbm"))
    assert described["classes"][2] == {"label": 2, "name": "pine"}
    place.ok("classify_m", "w.mbm", "v.vec", "out")
    # the same points as those with numbers for labels, where pine was 2, birch 5, moss 9
    place.ok("classify_m", "all.mbm", "tst.vec", "numbers")
    assert np.mean(np.array([5, 9, 2])[classes(place, "out")] == classes(place, "numbers")) > 0.9
    assert "multi_borders" not in json.dumps(described)


def test_options_of_each_partition(place):
    (place / "own").write_text('# nested\n"-c 1 -g 0.5" {"-c 2 -t 0" {2 5} 9}\n')
    place.ok("multi_borders", "own", "trn", "o", "octl")
    assert (place / "octl").read_text().split() == "o { o.00 { 2 5 } 9 }".split()
    models = json.loads(place.ok("mbm_info", "--json", "octl"))["binary_models"]
    assert "-t 2 -g 0.5 -c 1.0" in models[0]["made_by"]
    assert "-t 0 -c 2.0" in models[1]["made_by"]
    assert (models[0]["left"], models[0]["right"]) == ([2, 5], [9])
    (place / "default").write_text('"" {"-c 2 -t 0" {2 5} 9}\n')
    place.ok("multi_borders", "-+", "-c 1 -g 0.5", "default", "trn", "d", "dctl")
    assert (place / "d").read_bytes() == (place / "o").read_bytes()


def test_tree_modes(place):
    place.shell("print_control -Q 2 trn | multi_borders trn t tctl; mbh2mbm tctl t.mbm")
    assert place.ok("classify_m", "t.mbm", "tst.vec", "r") == b""
    path = table(place.ok("classify_m", "--tree", "path", "t.mbm", "tst.vec", "p"))
    full = table(place.ok("classify_m", "--tree", "full", "tctl", "tst.vec", "f"))
    assert path.shape == (60, 2) and full.shape == (60, 4)
    assert np.allclose(full[:, :3].sum(axis=1), 1, atol=2e-6)
    assert (place / "r.cls").read_bytes() == (place / "p.cls").read_bytes()
    assert np.array_equal(path[:, 1], classes(place, "r"))
    column = np.searchsorted([2, 5, 9], path[:, 1])
    assert np.allclose(full[np.arange(60), column], path[:, 0], atol=2e-6)


def test_a_trained_tree_becomes_a_code_over_the_same_models(place):
    place.shell("print_control -Q 2 trn | multi_borders trn t tctl; print_control -Q 9 tctl > code;"
                "print_control -Q 9 < tctl - > code2")
    assert (place / "code").read_bytes() == (place / "code2").read_bytes()
    assert b"t 0 / 1 2;" in (place / "code").read_bytes()
    assert place.ok("classify_m", "-0", "code", "tst.vec", "a") == \
        place.ok("classify_m", "-0", "tctl", "tst.vec", "b")
    assert table(place.ok("classify_m", "code", "tst.vec", "a")).shape == (60, 4)


def test_reject(place):
    everything = table(place.ok("classify_m", "all.mbm", "tst.vec", "one"))
    done = place.run("classify_m", "--reject", "0.8", "all.mbm", "tst.vec", "two")
    winner = everything[:, :3].max(axis=1)
    answers = classes(place, "two")
    assert np.array_equal(answers == -1, winner < 0.8)
    assert np.array_equal(answers[winner >= 0.8], everything[winner >= 0.8, 3])
    assert 0 < (answers == -1).sum() < 60
    assert done.stderr.decode() == f"classify_m: {(answers == -1).sum()} of 60 points rejected\n"
    assert np.array_equal(table(done.stdout)[:, 3], answers)
    assert f"rejected{'':20}{(answers == -1).sum()}\n" in \
        place.ok("eval_uc", "-k", "3", "tst.cls", "two").decode()


def test_scores_at_the_end_of_a_pipe(place):
    """The answers are there when the table ends, and not before."""
    told = place.shell("classify_m all.mbm tst.vec piped | eval_uc tst.cls piped -")
    place.shell("classify_m all.mbm tst.vec out > table")
    assert told == place.ok("eval_uc", "tst.cls", "out", "table")


def test_normalisation_has_one_route(place):
    place.ok("multi_borders", "-n", "plan", "trn", "n", "nctl")
    place.ok("multi_borders", "-n", "-a", "own.std", "plan", "trn", "o", "octl")
    place.ok("multi_borders", "-a", "own.std", "plan", "trn", "p", "pctl")
    assert (place / "n.std").read_bytes() == (place / "own.std").read_bytes()
    for row in ("00", "01", "02"):
        assert (place / f"n-{row}").read_bytes() == (place / f"p-{row}").read_bytes()
    place.ok("mbh2mbm", "-a", "n.std", "nctl", "n.mbm")
    one = place.ok("classify_m", "-a", "n.std", "nctl", "tst.vec", "one")
    two = place.ok("classify_m", "n.mbm", "tst.vec", "two")
    assert one == two
    assert (place / "one.con").read_bytes() == (place / "two.con").read_bytes()
    assert np.mean(classes(place, "two") == classes(place, "tst")) > 0.8


def test_the_seed_moves_the_probabilities_only(place):
    place.ok("multi_borders", "--seed", "2", "plan", "trn", "s", "sctl")
    place.ok("multi_borders", "--seed", "1", "plan", "trn", "t", "tctl")
    assert (place / "t-00").read_bytes() == (place / "m-00").read_bytes()
    assert (place / "s-00").read_bytes() != (place / "m-00").read_bytes()
    f, g = (place.ok("classify_m", "-0", name, "tst.vec", "out") for name in ("sctl", "ctl"))
    assert f == g
