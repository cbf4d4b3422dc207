"""The page of a model: what stands in it, what is escaped, and that nothing is missing."""

from html.parser import HTMLParser

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.prediction.evaluation import evaluate, Results
from agfmc.report.content import (AnswersPart, DataPart, HardPoint, ModelPart, ReportContent, Step)
from agfmc.report.page import render

pytest.importorskip("jinja2")

HOSTILE = '</script><img src=x onerror="alert(1)">\'"&\u202egnp.\x00'
CONTROL = '"" 0 / 1 2;\n"" 1 / 2;\n{0 1 2}\n'


def results(k=3, n=60, seed=1):
    draw = np.random.default_rng(seed)
    truth = np.arange(n) % k
    p = draw.dirichlet(np.full(k, 0.5), n)
    p[np.arange(n), truth] += 0.7
    p /= p.sum(axis=1, keepdims=True)
    return Results(truth, p.argmax(axis=1), np.arange(k), k, p.max(axis=1), p)


def content(names=None, k=3, **parts):
    scores = evaluate(results(k, n=max(60, 2 * k)))
    hard = (HardPoint("row-7", 0, 1, 0.01, ((1, 0.9), (0, 0.01))),)
    whole = {"data": DataPart("some.csv", 60, 4, tuple(range(k)), (20.0,) * k),
             "model": ModelPart(parse(CONTROL)) if k == 3 else None,
             "answers": AnswersPart("held out", scores, None, hard),
             "provenance": (("seed", "1"),), "steps": (Step("multi_borders a b", "trains"),)}
    return ReportContent("A page", names or {}, **{**whole, **parts})


class Elements(HTMLParser):
    """Tags with their attributes, and the text of the page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.found, self.words = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.words.append(data)


def test_sections_in_their_order():
    page = Elements(render(content()))
    anchors = [attributes["id"] for tag, attributes in page.found if tag == "section"]
    assert anchors == ["data", "configuration", "scores", "confusions", "probabilities", "hardest",
                       "provenance", "commands"]
    links = [attributes["href"] for tag, attributes in page.found if tag == "a"]
    assert links == ["#content", *(f"#{anchor}" for anchor in anchors)]
