"""The service for HTTP of the sample data."""

import csv
import importlib.util
import sys

import pytest

pytest.importorskip("fastapi", reason="FastAPI is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")


@pytest.fixture
def service(run, root, folder, monkeypatch):
    """The module of the service, with a model of the penguins."""
    samples = root / "sample_data"
    (folder / "plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    run(
        "multi_borders",
        "--quiet",
        "--platt",
        "loo",
        "--label",
        "species",
        "--id",
        "id",
        "--ignore",
        "year,comments",
        "plan",
        samples / "penguins.csv",
        "m",
        "penguins.mbc",
    )
    run("mbh2mbm", "--quiet", "penguins.mbc", "penguins.mbm")
    monkeypatch.setenv("MODEL", "penguins.mbm")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # nothing is written to sample_data
    place = importlib.util.spec_from_file_location("service", samples / "service.py")
    place.loader.exec_module(service := importlib.util.module_from_spec(place))
    return service


@pytest.fixture
def client(service):
    from fastapi.testclient import TestClient

    return TestClient(service.app)


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [
            {
                name: cell if name in ("island", "sex") else None if cell == "NA" else float(cell)
                for name, cell in row.items()
                if name not in ("id", "species", "year", "comments")
            }
            for row in csv.DictReader(file)
        ]


def test_rows_by_http(run, root, client):
    assert client.get("/model").json()["classes"] == ["Adelie", "Chinstrap", "Gentoo"]
    assert client.get("/model").json()["columns"]["sex"] == ["female", "male"]
    new = root / "sample_data" / "penguins-2009.csv"
    rows = rows_of(new)
    answer = client.post("/classify", json=rows)
    expected = list(csv.DictReader(run("classify_m", "penguins.mbm", new).out.splitlines()))
    answers = answer.json()["answers"]
    assert [[one["class"], *(f"{p:.6f}" for p in one["p"].values())] for one in answers] == [
        [row["class"], *(row[f"p:{name}"] for name in answers[0]["p"])] for row in expected
    ]
    for wrong, message in (
        ([{"island": "Dream"}], "lacks the columns 'bill_length_mm'"),
        ([], "expected 1 to 10000 rows"),
        ([1], "dict_type"),
    ):
        found = client.post("/classify", json=wrong)
        assert found.status_code == 422 and message in found.text


def test_rows_that_are_unlike_training_have_flags(root, client):
    row = rows_of(root / "sample_data" / "penguins.csv")[0]
    rows = [row, {**row, "body_mass_g": 3.75, "island": "Mars"}, {**row, "body_mass_g": "big"}]
    answer = client.post("/classify", json=rows).json()
    assert [one["flags"] for one in answer["answers"]] == [
        [],
        ["island: unknown", "body_mass_g: below"],
        ["body_mass_g: wrong"],
    ]
    assert [one["class"] for one in answer["answers"]] == ["Adelie", "Adelie", None]
    assert set(answer["answers"][2]["p"].values()) == {None}
    assert any("row 3: expected a number" in warning for warning in answer["warnings"])


def test_warnings_are_a_part_of_the_answer(root, client):
    row = rows_of(root / "sample_data" / "penguins.csv")[0]
    assert client.post("/classify", json=[row]).json()["warnings"] == []
    for _ in range(2):  # of each request
        answer = client.post("/classify", json=[{**row, "island": "Mars"}]).json()
        (warning,) = answer["warnings"]
        assert "'Mars'" in warning and len(answer["answers"]) == 1


@pytest.mark.parametrize("told", [True, False])
def test_bytes_are_limited_before_rows_are_made(service, client, monkeypatch, told):
    """Also where the length of the request is not told beforehand."""
    monkeypatch.setattr(service, "MOST_BYTES", 1000)

    def pieces():
        for _ in range(100):
            yield b" " * 100

    body = b" " * 10_000
    if not told:
        body = pieces()
    headers = {"Content-Type": "application/json"}
    answer = client.post("/classify", content=body, headers=headers)
    assert answer.status_code == 413 and "at most 1000 bytes" in answer.text
