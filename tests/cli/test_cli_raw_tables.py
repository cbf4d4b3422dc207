"""Tables as people have them: one run names all that is wrong, and the next one trains."""

import pytest
from made_tables import collars, mend, survey, write_columns


@pytest.fixture
def animals(folder):
    table, _ = collars()
    write_columns("collars.csv", table)
    write_columns("in_kg.csv", mend(table))


@pytest.fixture
def plots(folder):
    table, _ = survey()
    write_columns("survey.csv", table, delimiter=";", encoding="cp1252")


def test_one_run_names_all_columns_of_collars(animals, run):
    done = run("table2agf", "collars.csv", "points", status=1)
    lines = done.err.splitlines()
    assert "'mass'" in lines[-1] and "6100 g" in lines[-1] and " kg" in lines[-1]
    for words in ("column 'fix'", "-999 in 42 rows", "--blanks -999", "'FOREST'", "--fold-case"):
        assert sum(words in line for line in lines[:-1]) == 1, words


def test_the_second_run_trains_on_collars(animals, run):
    options = ["--ignore=fix", "--blanks=-999", "--fold-case", "--group=animal"]
    assert "warning" not in run("table2agf", *options, "in_kg.csv", "in_kg").err
    done = run("multi_borders", "one-vs-one", "in_kg.csv", "m", "m.mbc")
    assert "in_kg.recipe" in done.err and "warning" not in done.err
    assert "'mass' (kg), 'battery' (%)" in done.err
    assert "'-' in 'speed' (34)" in done.err
    assert "'temperature' (42)" in done.err


def test_the_second_run_trains_on_the_survey(plots, run):
    """All but the spelling of words has one meaning, the encoding too."""
    first = run("table2agf", "survey.csv", "points")
    assert "column 'class'" in first.err and "differ from others in case" in first.err
    done = run("table2agf", "--fold-case", "--group=Fläche", "survey.csv", "points")
    for words in (
        "windows-1252",
        "decimals have commas",
        "'Höhe' (m), 'Neigung' (%)",
        "'k.A.' in 'pH-Wert' (45)",
        "'Nitrat' (< in 29 rows)",
        "'Stammumfang' (1.000 is 1000)",
        "classes: Buche 145, Fichte 203, Föhre 118, Weißtanne 134",
    ):
        assert words in done.err, words


def test_true_classes_of_new_rows_are_compared_without_case(folder, run):
    rows = [f"{n % 2 * 3 + n % 5},{('Ost', 'West')[n % 2]}" for n in range(60)]
    write = (folder / "t.csv").write_text
    write("\n".join(["x,place", *rows, "1,ost", "2,WEST", ""]))
    run("table2agf", "--label=place", "--fold-case", "t.csv", "t")
    run("multi_borders", "one-vs-one", "t.csv", "m", "m.mbc")
    (folder / "new.csv").write_text("\n".join(["x,place", *rows, ""]).lower())
    (folder / "answers.csv").write_text(run("classify_m", "m.mbc", "new.csv", "-").out)
    for options in (["--recipe=t.recipe"], ["--model=m.mbc", "--report=page.html"]):
        done = run("eval_uc", "answers.csv", "--data=new.csv", "--truth=place", *options)
        assert "none of the answers" not in done.err
    told = run("eval_uc", "answers.csv", "--data=new.csv", "--truth=place", status=1).err
    assert "'ost' differs from 'Ost' in case or blanks alone: the recipe, or the model, of" in told
