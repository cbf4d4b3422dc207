"""The page of a model: what stands in it, what is escaped, and what is left out of large ones."""

import base64
import hashlib
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.core.answers import Results
from agfmc.core.errors import UsageError
from agfmc.score.evaluation import ScoreRequest, evaluate
from agfmc.report.content import AnswersPart, DataPart, HardPoint, ModelPart, ReportContent
from agfmc.report.page import check_page, render
from agfmc.score.nodes import NodeCost

pytest.importorskip("jinja2")

TREE = '"" {0 "" {1 2}}\n'
HOSTILE = (
    "<script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "' onmouseover='window.hacked=1",
    "</title></style></script><svg onload=hacked()>",
    "x" * 10_000,
    "\u202eevil\u202c \u0627\u0644",
    "{{ 7*7 }}{% raw %}",
    "&lt;b&gt;&amp;",
    "a\x00b\x1b[31m\r\n\t",
    "\ud800lone",
    "-->]]>",
)


def results(k=3, n=60):
    """Results of n points whose true class is mostly, but not always, the most probable one."""
    draw = np.random.default_rng(1)
    truth = np.arange(n) % k
    p = draw.dirichlet(np.full(k, 0.5), n)
    p[np.arange(n), truth] += 4 / (k + 7)
    p /= p.sum(axis=1, keepdims=True)
    return Results(truth, p.argmax(axis=1), np.arange(k), k, p.max(axis=1), p)


def content(k=3, names=None, **parts):
    scores = evaluate(results(k, max(60, 10 * k)))
    hard = (HardPoint("row-7", 0, 1, 0.01, ((1, 0.9), (0, 0.01))),)
    whole = {
        "data": DataPart("some.csv", 60, 4, tuple(range(k)), (20.0,) * k),
        "model": ModelPart(parse(TREE)) if k == 3 else None,
        "answers": AnswersPart("held out", scores, None, hard),
        "provenance": (("seed", "1"),),
        "steps": (("multi_borders a b", "trains"),),
    }
    return ReportContent("A page", names or {}, **{**whole, **parts})


class Elements(HTMLParser):
    """Tags with their attributes, the rows of tables, and the text below each heading."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.found, self.rows, self.words, self._open = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if "td" in self._open or "th" in self._open:
            self.rows[-1][-1] += data
        if not {"style", "script"} & set(self._open):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(self.words)

    def all(self, tag, attribute):
        return [
            attributes[attribute]
            for name, attributes in self.found
            if name == tag and attribute in attributes
        ]


def test_sections_in_their_order_and_the_table_of_contents():
    page = Elements(render(content()))
    anchors = page.all("section", "id")
    assert anchors == [
        "scores",
        "confusions",
        "probabilities",
        "hardest",
        "data",
        "configuration",
        "provenance",
        "commands",
    ]
    assert page.all("a", "href") == ["#content", *(f"#{anchor}" for anchor in anchors)]


def test_parts_that_are_not_there_are_left_out():
    page = Elements(render(ReportContent("Nothing yet")))
    assert page.all("section", "id") == []
    assert "Nothing yet" in page.text


def test_headings_in_order_and_names_once():
    tags = Elements(render(content())).found
    levels = [int(tag[1]) for tag, _ in tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:]))
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids)) > 10
    labelled = {
        attributes["aria-labelledby"] for _, attributes in tags if "aria-labelledby" in attributes
    }
    assert labelled <= set(ids)


def test_scores_in_the_words_of_the_field_with_intervals():
    whole = content()
    page = Elements(render(whole))
    scores = whole.answers.scores
    row = next(row for row in page.rows if row and row[0] == "accuracy")
    low, high = scores["intervals"]["accuracy"]
    assert row[1:4] == [f"{scores['accuracy']:.4f}", f"{low:.4f} to {high:.4f}", "0.3333"]
    row = next(row for row in page.rows if row and row[0] == "log loss")
    assert row[1] == f"{scores['log_loss']:.4f}"
    assert f"{np.log(3):.4f}" in row  # of answers that know the shares of the classes alone


def verdict(**parts):
    page = render(content(**parts))
    found = re.search('<p class="verdict">(.*?)</p>', page)
    return "" if found is None else found[1].replace("\u202f", " ").replace("\u00a0", " ")


def answers(truth, result, **parts):
    k = max(truth) + 1
    found = Results(np.array(truth), np.array(result), np.arange(k), k)
    return AnswersPart("x", evaluate(found, 10, ScoreRequest(intervals=20)), **parts)


def test_the_verdict_says_how_good_against_what_and_what_is_confused():
    right = [0] * 6 + [1] * 4
    found = answers(right, [0] * 5 + [1] + [0, 0, 1, 1])
    assert verdict(k=2, names={0: "window", 1: "cement"}, answers=found) == (
        "On 10 samples the model answers 70.0 % correctly (95 % interval 39.7 % to 89.2 %); always "
        "answering the most frequent class would give 60.0 %. It most often takes “cement” for "
        "“window”: 2 of 4."
    )
    perfect = verdict(k=2, answers=answers(right, right, splits={"accuracy": {"sd": None}}))
    assert perfect.startswith("On 10 held-out samples the model answers 100.0 % correctly (95 %")
    assert perfect.endswith("No answer is wrong.")
    rejecting = answers(right, [0] * 5 + [-1] + [-1, 0, 1, 1])
    assert verdict(k=2, answers=rejecting).startswith(
        "Of 10 samples the model answers 80.0 %, 87.5 % of these correctly (95 %"
    )
    assert verdict(answers=None).startswith("This page has no answers to held-out samples")
    assert verdict(answers=None, model=None) == ""


def test_the_estimate_for_new_data_takes_the_place_of_the_held_out_log_loss():
    estimate = {"score": 0.25, "error": 0.03, "points": 60, "how": "part 3"}
    found = {
        "control": "c",
        "data": "x",
        "by": "log_loss",
        "plan": "2 parts",
        "search": "fast",
        "decoder": "vote",
        "complete": True,
        "points": [],
        "best": None,
        "border": [],
        "tried": 3,
        "estimate": estimate,
    }
    tiles = re.findall(
        '<span class="title">(.*?)</span> .*?<bdi>(.*?)</bdi>', render(content(search=found))
    )
    assert tiles[0] == ("Log loss, estimate for new data", "0.2500")
    assert [title for title, _ in tiles].count("Accuracy") == 1 and len(tiles) == 4
    assert ("Log loss",) not in [tile[:1] for tile in tiles]
    assert "estimated as 0.2500, standard error 0.0300" in verdict(search=found)


def test_columns_that_differ_in_their_names_alone_share_a_row():
    plain = {"categories": None, "fill": None, "indicator": False}
    recipe = {
        "label": "y",
        "ids": (),
        "weight": "",
        "missing": "error",
        "source": "x",
        "classes": ("a", "b"),
        "features": (),
        "kinds": {"number": 148},
        "columns": [{"name": f"f{i}", **plain} for i in range(147)]
        + [{"name": "size", **plain, "fill": 2.5, "indicator": True}],
    }
    page = Elements(render(content(data=DataPart("x", 60, 149, (0, 1, 2), None, recipe))))
    rows = [row for row in page.rows if "number" in row]
    assert rows == [
        ["f0, f1, f2, f3, f4, f5, f6, f7, … (147)", "147", "number", "1", "not accepted"],
        ["size", "", "number", "2", "2.5, indicator"],
    ]
    assert "error" not in page.text.split("Columns of the table")[1].split("Configuration")[0]


def test_answer_and_most_probable_class_stand_once_where_they_are_equal():
    def heads(answer):
        point = HardPoint("row-7", 0, answer, 0.01, ((1, 0.9), (0, 0.01)))
        page = Elements(
            render(
                content(answers=AnswersPart("held out", content().answers.scores, None, (point,)))
            )
        )
        return next(row for row in page.rows if row[0] == "point")

    assert heads(1) == ["point", "true class", "p of it", "answer", "p", "second", "p"]
    assert heads(-1)[3:5] == ["answer", "most probable"]


def test_confusions_have_counts_and_shares():
    whole = content()
    table = whole.answers.scores["contingency"]
    page = Elements(render(whole))
    matrix = [row for row in page.rows if row[:1] == ["1"] and len(row) == 5]
    cells = [
        f"{count}{100 * count / sum(table[1]):.1f}" if count else "··" for count in table[1][:3]
    ]
    assert matrix == [["1", *cells, str(sum(table[1]))]]


def test_policy_names_the_style_and_the_script():
    page = render(content())
    policy = next(
        attributes["content"]
        for tag, attributes in Elements(page).found
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    for tag in ("style", "script"):
        inline = re.search(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_nothing_of_a_file_is_markup():
    """All names, options and texts are hostile: only elements of the template are there."""
    names = dict(enumerate(HOSTILE))
    k, text = len(HOSTILE), HOSTILE[3]
    recipe = {
        "label": text,
        "classes": HOSTILE,
        "ids": list(HOSTILE),
        "weight": text,
        "missing": text,
        "source": text,
        "blanks": [],
        "features": HOSTILE,
        "kinds": dict.fromkeys(HOSTILE, 1),
        "columns": [
            {"name": name, "categories": HOSTILE, "fill": name, "indicator": True}
            for name in HOSTILE
        ],
    }
    scores = evaluate(results(k, 200)) | {"names": list(HOSTILE)}
    hard = tuple(HardPoint(name, 0, 1, 0.1, ((1, 0.5),)) for name in HOSTILE)
    page = render(
        ReportContent(
            text,
            names,
            DataPart(text, 1, 1, tuple(range(k)), (1.0,) * k, recipe, ((text, text),)),
            ModelPart(parse('"" {0 1}')._replace(names={0: text, 1: HOSTILE[0]}), text),
            AnswersPart(text, scores, None, hard, (NodeCost(0, 1.0, 0.1, 0.1),), HOSTILE),
            provenance=[(name, name) for name in HOSTILE],
            steps=[(name, name) for name in HOSTILE],
        )
    )
    found = Elements(page).found
    assert [tag for tag, _ in found].count("script") == 1
    assert not {"img", "iframe", "object", "embed", "form", "base", "link"} & {
        tag for tag, _ in found
    }
    assert not [
        name
        for _, attributes in found
        for name in attributes
        if name.startswith("on") or name == "style"
    ]
    links = [
        value
        for _, attributes in found
        for name, value in attributes.items()
        if name in ("href", "src", "xlink:href", "action")
    ]
    assert all(re.match(r"#|https?://|data:image/png;base64,", link) for link in links)
    assert not set("\0\x1b\u202e\u202c\ud800") & set(page)
    assert "{{ 7*7 }}" in page and len(page) < 1_000_000


def test_scores_without_errors_have_no_interval_of_certainty():
    """A bootstrap of points without an error sees no other scores: it says nothing of new ones."""
    found = results()
    found = replace(
        found, p=np.eye(3)[found.truth] * 0.7 + 0.1, result=found.truth, winner=np.full(60, 0.8)
    )
    scores = evaluate(found, 10, ScoreRequest(intervals=20))
    assert "accuracy" in scores["intervals"] and not {
        "balanced_accuracy",
        "macro_f1",
        "cohen_kappa",
        "macro_auc",
    } & set(scores["intervals"])
    page = Elements(render(content(answers=AnswersPart("held out", scores))))
    row = next(row for row in page.rows if row and row[0] == "balanced accuracy")
    assert row[1:3] == ["1.0000", ""]
    assert "no interval: no error in 60 points" in page.text
    assert "the same in all resamples" in page.text and "1.0000 to 1.0000" not in page.text


def test_names_that_would_be_cut_alike_have_their_labels():
    names = {0: "a class of the very long kind sp.", 1: "a class of the longest kind sp.", 2: "c"}
    page = Elements(render(content(3, names)))
    heads = [text for row in page.rows for text in row if text.endswith("sp.")]
    assert any(text.startswith("0: a") for text in heads)
    assert any(text.startswith("1: a") for text in heads) and "2: c" not in page.text


def test_words_of_tables_are_divided_on_paper_where_they_are_long():
    few = AnswersPart(
        "held out",
        content().answers.scores,
        None,
        (HardPoint("row-7", 0, 1, 0.01, ((1, 0.9), (0, 0.01), (2, 0.0))),),
    )
    classes = Elements(render(content(answers=few))).all("table", "class")
    assert "sortable many wide" in classes
    names = {label: "x" * 17 + str(label) for label in range(3)}
    assert "sortable many wide long" in Elements(render(content(3, names, answers=few))).all(
        "table", "class"
    )


def test_sums_of_weights_that_are_whole_numbers_are_told_as_such():
    found = results()
    found = replace(found, weights=np.where(found.truth == 0, 1 / 3, 1.0))
    scores = evaluate(found, 10, ScoreRequest())
    assert 1.9 < scores["contingency"][0][1] < 2  # but for rounding
    page = Elements(render(content(answers=AnswersPart("held out", scores))))
    assert any(row[:3:2] == ["0", "230.0"] for row in page.rows)  # 2, and 30.0 %


@pytest.mark.long
def test_names_of_10_kB_in_a_small_page():
    names = {label: "x" * 10_000 + str(label) for label in range(200)}
    assert len(render(content(200, names))) < 2_000_000


def test_many_classes_stay_small():
    """The cells of confusions are a picture and a list, and what is left out is told."""
    page = render(content(200))
    assert len(page) < 700_000
    assert "The JSON of eval_uc has all of them" in page and 'class="matrix' not in page


def test_long_names_keep_their_ends_and_are_whole_on_request():
    names = {0: "first " * 12 + "one", 1: "first " * 12 + "two", 2: "third"}
    page = Elements(render(content(names=names)))
    titles = [
        attributes["title"]
        for tag, attributes in page.found
        if tag == "td" and "title" in attributes
    ]
    assert names[0] in titles
    first, second = (
        next(row[0] for row in page.rows if row and row[0].endswith(end)) for end in ("one", "two")
    )
    assert len(first) <= 40 and first != second


def test_the_same_content_gives_the_same_bytes():
    assert render(content()) == render(content())


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(UsageError, match=r"needs jinja2: pip install 'agfmc\[report\]'"):
        check_page()
