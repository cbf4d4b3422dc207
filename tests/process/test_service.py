"""The service for HTTP of the sample data."""

import csv
import importlib.util
import sys

import pytest

pytest.importorskip("fastapi", reason="FastAPI is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")


def test_rows_by_http(run, root, folder, monkeypatch):
    from fastapi.testclient import TestClient

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
    client = TestClient(service.app)
    assert client.get("/model").json()["classes"] == ["Adelie", "Chinstrap", "Gentoo"]
    assert client.get("/model").json()["columns"]["sex"] == ["female", "male"]
    with open(samples / "penguins-2009.csv", encoding="utf-8", newline="") as file:
        rows = [
            {
                name: cell if name in ("island", "sex") else None if cell == "NA" else float(cell)
                for name, cell in row.items()
                if name not in ("id", "species", "year", "comments")
            }
            for row in csv.DictReader(file)
        ]
    answer = client.post("/classify", json=rows)
    expected = list(
        csv.DictReader(
            run("classify_m", "penguins.mbm", samples / "penguins-2009.csv").out.splitlines()
        )
    )
    assert [[one["class"], *(f"{p:.6f}" for p in one["p"].values())] for one in answer.json()] == [
        [row["class"], *(row[f"p:{name}"] for name in answer.json()[0]["p"])] for row in expected
    ]
    for wrong, message in (
        ([{"island": "Dream"}], "lacks the columns 'bill_length_mm'"),
        ([{**rows[0], "body_mass_g": "big"}], "row 1: expected a number"),
        ([], "expected 1 to 10000 rows"),
        ([1], "dict_type"),
    ):
        found = client.post("/classify", json=wrong)
        assert found.status_code == 422 and message in found.text
