"""Tables as people have them: one run names all that is wrong, what helps then helps."""

import json
import pickle
from pathlib import Path

import pytest

import agfmc
from agfmc.core.errors import DataErrors
from own_warnings import own_warnings
from agfmc.data.libagf import read_vec
from agfmc.tables.recipe_file import read_recipe

N = 60


@pytest.fixture
def collars(folder):
    """Rows of animals: units, signs, -999, words in two spellings."""
    rows = ["mass,tag,share,depth,speed,cover,length,steps,kind"]
    for i in range(N):
        cells = (
            f"{4 + i % 7 / 2} kg",
            f'"1,{i % 9}00"',
            f"{i * 7 % 40} %",
            "-" if i % 10 == 3 else str(i * 5 % 31),
            -999 if i % 20 == 4 else i * 3 % 17 / 4,
            "Forest" if i % 11 == 0 else ("forest", "field")[i % 2],
            f"{1 + i % 8 / 4} m" if i % 5 else f"{100 + i} cm",
            "many" if i == 30 else i * 11 % 50,
            ("fox", "hare")[i * 7 // 3 % 2],
        )
        rows.append(",".join(map(str, cells)))
    (folder / "collars.csv").write_text("\n".join(rows) + "\n")


@pytest.fixture
def survey(folder):
    """Answers in a spreadsheet of a German office."""
    rows = ["Weg;Blei;Alter;Preis;Datum;Note;Ort"]
    for i in range(N):
        cells = (
            f"{400 + i * 7 % 90} m",
            "<0,05" if i % 6 == 0 else f"0,{5 + i * 3 % 40:02}",
            "k.A." if i % 15 == 2 else 20 + i * 7 % 50,
            f"{1 + i % 4}.{100 + i},50",
            45000 + i * 13 % 200,
            ("2,5" if i % 2 else "2.5") if i == 7 or i == 8 else f"{i % 5},5",
            ("Ost", "West", "ost")[i % 3],
        )
        rows.append(";".join(map(str, cells)))
    (folder / "survey.csv").write_text("\n".join(rows) + "\n")


def test_collars(run, collars):
    told = run("table2agf", "collars.csv", "q", "--label", "kind", status=1).err.splitlines()
    assert told == [
        "table2agf: warning: collars.csv: column 'speed' has -999 in 3 rows, far from all other "
        "numbers: if this means a missing value, --blanks -999 takes it so",
        "table2agf: warning: collars.csv: column 'cover': 1 word differs from others in case or "
        "blanks alone, as 'Forest', 'forest' (--fold-case makes them one)",
        "table2agf: collars.csv:2: column 'length', row 1: \"100 cm\" is in another unit than "
        '"1.0 m" (1 m is 100 cm): write all numbers in one unit; --categorical takes all cells '
        "as words, --ignore leaves the column out",
        "table2agf: collars.csv:32: column 'steps', row 31: \"many\" is no number, as other cells "
        "are: --blanks names words that mean a missing value, --categorical takes all cells as "
        "words, --ignore leaves the column out",
    ]
    options = ["--ignore", "length", "--blanks", "many,-999", "--fold-case"]
    told = run("table2agf", "collars.csv", "q", "--label", "kind", *options).err
    assert "units left out: 'mass' (kg), 'share' (%); marks of thousands: 'tag' (1,000 is" in told
    assert "words that mean a missing value: '-' in 'depth' (6)" in told
    assert "11 missing values in columns 'depth' (6), 'speed' (3), 'steps' (1)" not in told
    assert "10 missing values in columns 'depth' (6), 'speed' (3), 'steps' (1)" in told
    recipe = read_recipe("q.recipe")
    assert recipe.columns[0].numbers.unit == "kg" and recipe.fold_case
    assert recipe.columns[5].categories == ("field", "forest")
    x = read_vec("q.vec")
    assert x[1, :3].tolist() == [4.5, 1100, 7] and x[0, -4:].tolist() != x[2, -4:].tolist()


def test_survey(run, survey):
    told = run("table2agf", "survey.csv", "q", "--label", "Ort", status=1).err.splitlines()
    assert told == [
        "table2agf: warning: survey.csv: decimals have commas, as in column 'Blei' (--decimal . "
        "says that they have points)",
        "table2agf: warning: survey.csv: column 'Ort': 1 word differs from others in case or "
        "blanks alone, as 'Ost', 'ost' (--fold-case makes them one)",
        "table2agf: survey.csv:10: column 'Note', row 9: \"2.5\" has other marks in its digits than "
        '"0,5": write all numbers in one way; --categorical takes all cells as words, --ignore '
        "leaves the column out",
    ]
    options = ["--ignore", "Note", "--label", "Ort", "--fold-case"]
    told = run("table2agf", "survey.csv", *options).err
    for text in (
        "decimals have commas",
        "units left out: 'Weg' (m); ",
        "limits are numbers, and a feature tells which these are: 'Blei' (< in 10 rows)",
        "words that mean a missing value: 'k.A.' in 'Alter' (4)",
        "marks of thousands: 'Preis' (1.000 is 1000)",
        "column 'Datum' has dates, year first",
    ):
        assert text in told, told
    run("multi_borders", "one-vs-one", "survey.csv", "m", "m.mbc", "--label", "Ort")
    run("mbh2mbm", "m.mbc", "m.mbm")
    assert read_recipe("m.mbc.recipe").classes == ("Ost", "West")
    shown = run("mbm_info", "m.mbm").out
    assert "unit m" in shown and "limits <" in shown and "missing: k.A." in shown
    head, first, *rest = Path("survey.csv").read_text().splitlines()
    first = first.replace("400 m", "400 m").replace("20;", "k.A.;")
    Path("new.csv").write_text("\n".join([head, first, *rest[:3]]) + "\n")
    run("classify_m", "m.mbm", "new.csv", "answer.csv")
    Path("new.csv").write_text("\n".join([head, first.replace(" m;", " km;"), *rest[:3]]) + "\n")
    told = run("classify_m", "m.mbm", "new.csv", "answer2.csv", status=None).err
    assert (
        "column 'Weg': expected a number as in training (unit m; decimal commas), found '400 km'"
        in told
    )


def test_back_to_a_table(run, survey):
    """Points in a table again have the cells that the recipe reads."""
    run("table2agf", "survey.csv", "q", "--ignore", "Note", "--label", "Ort")
    run("agf2ascii", "q", "again.csv")
    run("table2agf", "--recipe", "q.recipe", "again.csv", "again")
    assert Path("again.vec").read_bytes() == Path("q.vec").read_bytes()


def test_problems_of_a_table_in_python(collars):
    with own_warnings(), pytest.raises(DataErrors) as caught:
        agfmc.read_table("collars.csv", label="kind")
    assert len(caught.value.problems) == len(str(caught.value).splitlines()) == 2
    assert isinstance(caught.value, agfmc.DataError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and len(again.problems) == 2


def test_problems_as_events(run, collars):
    """Each problem is an event."""
    told = run("table2agf", "collars.csv", "q", "--label", "kind", "--log", "json", status=1).err
    events = [json.loads(line) for line in told.splitlines()]
    errors = [event for event in events if event["event"] == "error"]
    assert [event["text"].split(",")[0] for event in errors] == [
        "collars.csv:2: column 'length'",
        "collars.csv:32: column 'steps'",
    ]
    assert [event["line"] for event in errors] == [2, 32]
    assert {event["file"] for event in errors} == {"collars.csv"}
