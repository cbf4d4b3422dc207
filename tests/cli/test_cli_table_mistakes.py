"""Tables that are wrong, and the one line that each of them gets."""

import gzip
import os

import pytest

from agfmc.files import opening

# The table that the mistakes are made in, and what is said of its columns.
HEAD = "id,a,b,colour,species\n"
ROWS = [
    f"r{i},{i}.5,{i * 7 % 5},{'red' if i % 3 else 'blue'},{('ant', 'bee', 'cat')[i % 3]}\n"
    for i in range(30)
]
GOOD = HEAD + "".join(ROWS)
LABEL = ["--label", "species", "--id", "id"]
# All read a training table whole; each mistake is made with one of them.
COMMANDS = (
    "agf_preprocess t.csv q",
    "multi_borders pairs t.csv q q.c",
    "table2agf t.csv q",
    "print_control -Q empirical t.csv",
    "nfold --no-state pairs t.csv q",
    "tune_m --no-state pairs t.csv",
    "compare_control --no-state t.csv one-vs-one",
    "order_classes --adjacent mean-deviation path t.csv",
)


def line(number, text):
    """The good table with that line, from 1, in place of its own."""
    return "".join(text if i == number else one for i, one in enumerate(GOOD.splitlines(True), 1))


def head(text):
    """The good table with that header."""
    return line(1, text + "\n")


def cells(at, found):
    return f"t.csv:{at}: row {at - 1}: {found} cell{'s' * (found > 1)}, expected 5 as in the header"


def number(at, found):
    return f"t.csv:{at}: row {at - 1}: expected a number in column 'a', found '{found}'"


def unlike(at, found):
    return f"t.csv:{at}: column 'a', row {at - 1}: \"{found}\" is no number, as other cells are: "


def no_way(word):
    return f"there is no way '{word}' to treat missing values: expected error, mean,"


NO_LABEL = "t.csv: --label: there is no column 'species'; the columns are"
DAMAGED = "t.csv: is damaged, or not complete"
COMPRESSED = "t.csv: is compressed in another way than by gzip, which alone is read: unpack it"
NO_SVM = "t.csv:1: expected LIBSVM text; it looks like a table with commas: training"
NO_LVQ = "t.csv:1: the first line must be the number of features alone, found"
NO_CONTROL = "t.csv:1:1: expected a control file or a model, found a table: is the order"
ONE_SIGN = "expected one character that is neither a quote nor a line break as the"
NUL = "t.csv:1: is not text: it holds a NUL"
NO_UTF8 = "is not text in UTF-8: "
EMPTY = "t.csv: expected a table, found no line"
NO_ROWS = "t.csv: the table has no rows"
SPECIES = LABEL[:2]
ZIPPED = gzip.compress(GOOD.encode(), mtime=0)

# (what, the table t.csv, the message[, further options, in place of LABEL where they have a
# label or are none, or a whole command])
RAGGED = [
    ("a cell less", line(5, "r3,3.5,1,red\n"), cells(5, 4)),
    ("one cell", line(5, "r3\n"), cells(5, 1)),
    (
        "a comma at the end of all rows",
        HEAD + "".join(r[:-1] + ",\n" for r in ROWS),
        cells(2, 6) + "; write.table of R leaves out",
    ),
    ("a comment", "# made by hand\n" + GOOD, NO_LABEL + " '# made by"),
    ("the header again", GOOD + GOOD, unlike(32, "a"), [*LABEL, "--ignore", "b"]),
]
OPEN_QUOTE = "a quote that opens here is not closed; table2agf --no-quotes where quotes"
QUOTES = [
    ("quote not closed", line(4, 'r2,2.5,4,"red,cat\n'), f"t.csv:4: row 3: {OPEN_QUOTE}"),
    (
        "quote not closed in the header",
        head('id,a,b,"colour,species'),
        "t.csv:1: cannot split the first row into cells (unexpected end of data); table2agf",
    ),
    (
        "a line break in a quote, then wrong",
        line(4, 'r2,2.5,4,"red\nblue",cat\nr3,x,5,red,ant\n'),
        unlike(5, "x").replace(":5:", ":6:"),
    ),
    (
        "a line break in a class",
        line(4, 'r2,2.5,4,red,"cat\n# decoder: vote"\n'),
        "t.csv:4: column 'species', row 3: \"cat\\n# decoder: vote\" cannot be the name of a class: "
        "it has a line break",
    ),
]
ENCODINGS = [
    (
        "utf-8 and another",
        line(4, "r2,2.5,4,grün,cat\n").encode() + b"r\xfc,1,4,red,cat\n",
        f"t.csv:32: {NO_UTF8}",
    ),
    (
        "no text of Windows",
        line(4, "r2,2.5,4,gr\x8dn,cat\n").encode("latin-1"),
        f"t.csv:4: {NO_UTF8}",
    ),
    ("utf-16 without mark", GOOD.encode("utf-16-le"), NUL),
    (
        "two marks",
        b"\xef\xbb\xbf\xef\xbb\xbf" + GOOD.encode(),
        "t.csv: --id: there is no column 'id'; the columns are '\\ufeffid', 'a', 'b',",
    ),
    ("arabic digits", line(4, "r2,\u0662,4,red,cat\n"), unlike(4, "٢")),
]
HEADERS = [
    (
        "two columns of a name",
        head("id,a,a,colour,species"),
        "t.csv: columns 2 and 3 have the same name 'a'",
    ),
    (
        "names equal but for blanks",
        head("id,a, a ,colour,species"),
        "t.csv: columns 2 and 3 have the same name 'a'",
    ),
    (
        "a name is empty",
        head("id,a,,colour,species"),
        "t.csv: column 3 has no name in the header",
    ),
    ("a name is blank", head("id,a,b,  ,species"), "t.csv: column 4 has no name in the header"),
    ("no header", "".join(ROWS), NO_LABEL + " 'r0', '0.5',"),
    (
        "no header, numbers",
        "1,2,0\n3,4,1\n" * 9,
        "t.csv: the first row holds numbers: table2agf --no-header where there are no names",
    ),
    ("header only", HEAD, NO_ROWS),
    ("empty", "", EMPTY),
    ("blanks alone", "   \n", "t.csv: column 1 has no name in the header"),
    ("a mark alone", b"\xef\xbb\xbf", EMPTY),
    (
        "row is taken",
        head(",a,row,colour,species"),
        "t.csv: columns 1 and 3 have the same name 'row'",
    ),
    (
        "one column",
        "species\n" + "ant\nbee\n" * 9,
        "t.csv: no column is left to be a feature",
        SPECIES,
    ),
    (
        "one column and an id",
        "id,species\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(30)),
        "t.csv: no column is left to be a feature",
    ),
    (
        "feature of a category and a column",
        "a,a=x,species\n" + "".join(f"{'xyz'[i % 3]},{i % 4},{'ab'[i % 2]}\n" for i in range(12)),
        "t.csv: two features would be named 'a=x': expected columns and words that",
        SPECIES,
    ),
]
DELIMITERS = [
    ("blanks between", GOOD.replace(",", " "), NO_LABEL + " 'id a b"),
    ("delimiter of two", GOOD, ONE_SIGN, ["--delimiter", ";;"]),
    ("delimiter a break", GOOD, ONE_SIGN, ["--delimiter", "\n"]),
    ("delimiter not ascii", GOOD, ONE_SIGN, ["--delimiter", "\u00a7"]),
]
NUMBERS = [
    (
        "word among numbers, label",
        line(4, "r2,2.5,4,red,\n"),
        "t.csv:4: column 'species', row 3: no class, in 1 of 30 rows: expected a class in every row of",
    ),
    (
        "too large",
        line(4, "r2,1e39,4,red,cat\n"),
        "t.csv:4: column 'a', row 3: \"1e39\" is more than single precision holds: use a",
    ),
    (
        "overflow",
        line(4, "r2,1e400,4,red,cat\n"),
        "t.csv:4: column 'a', row 3: \"1e400\" is more than single precision holds: use a",
    ),
]
MISSING = [
    (
        "blank",
        line(4, "r2,,4,red,cat\n"),
        "t.csv:4: column 'a', row 3: a missing value: --missing",
        ["-E", "error"],
    ),
    (
        "blanks in two columns",
        line(4, "r2,NA,4,red,cat\n").replace("r9,9.5", "r9,"),
        "t.csv:4: column 'a', row 3: a missing value, one of 2: --missing median, mean,",
        ["-E", "error"],
    ),
    (
        "word column blank",
        line(4, "r2,2.5,4,null,cat\n"),
        "t.csv:4: column 'colour', row 3: a missing value: --missing",
        ["-E", "error"],
    ),
    (
        "no class NA",
        line(31, "r2,2.5,4,red,NA\n"),
        "t.csv:31: column 'species', row 30: no class, in 1 of 30 rows: expected a class",
    ),
    (
        "no class twice",
        line(4, "r2,2.5,4,red,NA\n").replace("r9,9.5,3,blue,ant", "r9,9.5,3,blue,?"),
        "t.csv:4: column 'species', row 3: no class, in 2 of 30 rows: expected a class",
    ),
    (
        "fill with a word",
        line(4, "r2,,4,red,cat\n"),
        "t.csv:4: column 'a', row 3: holds numbers, and --missing value:none would fill it",
        ["-E", "value:none"],
    ),
    ("policy", GOOD, no_way("drop"), ["-E", "drop"]),
    ("policy value", GOOD, no_way("value"), ["-E", "value"]),
    (
        "fill inf",
        line(4, "r2,,4,red,cat\n"),
        "t.csv:4: column 'a', row 3: holds numbers, and --missing value:inf would fill it with",
        ["-E", "value:inf"],
    ),
    ("fill empty", line(4, "r2,,4,red,cat\n"), no_way("value:"), ["-E", "value:"]),
    (
        "own blanks number",
        GOOD,
        "t.csv:4: column 'a', row 3: a missing value: --missing",
        ["--blanks", "2.5", "-E", "error"],
    ),
    (
        "own blanks empty word",
        GOOD,
        "argument --blanks: a name is empty in 'x,'",
        ["--blanks", "x,"],
    ),
    (
        "NaN with own blanks",
        line(4, "r2,NaN.,4,red,cat\n"),
        unlike(4, "NaN."),
        ["--blanks", "none"],
    ),
]
CLASSES = [
    (
        "no label named",
        GOOD,
        "t.csv: no column is named class, label or target: --label names the one",
        [],
    ),
    (
        "label case",
        GOOD.replace(",b,", ",SPECIES,", 1),
        "t.csv: there is no column 'Species', and several differ from it in case alone: "
        "'SPECIES', 'species'",
        ["--label", "Species"],
    ),
    (
        "label number 0",
        GOOD,
        "t.csv: --label: there is no column '0'; the columns are 'id', 'a', 'b',",
        ["--label", "0"],
    ),
    (
        "label number 6",
        GOOD,
        "t.csv: --label: there is no column '6'; the columns are 'id', 'a', 'b',",
        ["--label", "6"],
    ),
    (
        "two labels",
        head("id,a,class,colour,target"),
        "t.csv: columns 'class', 'target' could hold the classes: --label names the",
        [],
    ),
    (
        "two labels in case",
        head("id,Class,b,colour,LABEL"),
        "t.csv: columns 'Class', 'LABEL' could hold the classes: --label names the",
        [],
    ),
    (
        "continuous",
        GOOD,
        "t.csv:2: column 'a', row 1: \"0.5\" is one of 30 different values, which look like a continuous",
        ["--label", "a"],
    ),
    (
        "identifier",
        GOOD,
        "t.csv:2: column 'id', row 1: \"r0\" is one of 30 different values, which look like a",
        ["--label", "id"],
    ),
    (
        "one class",
        HEAD + "".join(r.replace("bee", "ant").replace("cat", "ant") for r in ROWS),
        "t.csv: holds one class: expected at least two",
        "print_control -Q one-vs-one t.csv --label species --id id",
    ),
    (
        "classes lack one",
        GOOD,
        "t.csv:4: column 'species', row 3: \"cat\" is a class that --classes does not name:",
        ["--classes", "ant,bee"],
    ),
    (
        "classes too many",
        GOOD,
        "t.csv: column 'species': no row is of class 'dog', which --classes names: there are",
        ["--classes", "ant,bee,cat,dog"],
    ),
    ("classes twice", GOOD, "a class is named twice", ["--classes", "ant,bee,cat,ant"]),
    (
        "classes twice as words",
        GOOD,
        "--classes names a class twice",
        ["--classes", "ant,bee,cat, ant"],
    ),
    (
        "classes quote",
        GOOD,
        "argument --classes: expected names with commas, found '\"ant,bee,cat'",
        ["--classes", '"ant,bee,cat'],
    ),
    ("classes empty", GOOD, "argument --classes: a name is empty in ''", ["--classes", ""]),
    (
        "classes hole",
        GOOD,
        "argument --classes: a name is empty in 'ant,,cat'",
        ["--classes", "ant,,cat"],
    ),
]
ROLES = [
    ("id empty", GOOD, "argument --id: a name is empty in ''", ["--label", "species", "--id", ""]),
    (
        "ignore unknown",
        GOOD,
        "t.csv: --ignore: there is no column 'c'; the columns are 'id', 'a', 'b',",
        ["--ignore", "c"],
    ),
    ("ignore all", GOOD, "t.csv: no column is left to be a feature", ["--ignore", "a,b,colour"]),
    (
        "categorical unknown",
        GOOD,
        "t.csv: --categorical: there is no column 'c'; the columns are 'id', 'a',",
        ["--categorical", "c"],
    ),
    (
        "label ignored",
        GOOD,
        "t.csv: column 'species' cannot be for the label and for --ignore",
        ["--ignore", "species"],
    ),
    (
        "label an id",
        GOOD,
        "t.csv: column 'species' cannot be for the label and for --id",
        ["--label", "species", "--id", "species"],
    ),
    (
        "id ignored",
        GOOD,
        "t.csv: column 'id' cannot be for --id and for --ignore",
        ["--ignore", "id"],
    ),
    (
        "ignored twice",
        GOOD,
        "t.csv: column 'a' cannot be for --ignore and for --ignore",
        ["--ignore", "a,a"],
    ),
    (
        "ignored and categorical",
        GOOD,
        "t.csv: column 'b' cannot be for --ignore and for --categorical",
        ["--ignore", "b", "--categorical", "b"],
    ),
    (
        "all columns constant",
        "a,b,species\n" + "1,x,ant\n1,x,bee\n" * 9,
        "t.csv: no column is left to be a feature; left out: 'a', 'b' (constant)",
        SPECIES,
    ),
    (
        "all left is identifiers",
        "name,species\n" + "".join(f"n{i},{'ab'[i % 2]}\n" for i in range(40)),
        "t.csv: no column is left to be a feature; left out: 'name' (a different value in",
        SPECIES,
    ),
    (
        "too many words",
        "a,b,species\n" + "".join(f"w{i % 1100},{i % 3},{'ab'[i % 2]}\n" for i in range(2500)),
        "t.csv:2: column 'a', row 1: \"w0\" is one of 1100 different words, of which each would be a",
        [*SPECIES, "--min-words", "1"],
    ),
]
FILES = [
    (
        "a spreadsheet",
        b"PK\x03\x04" + bytes(60),
        "t.csv: is a spreadsheet or an archive: save the table as CSV",
    ),
    (
        "an old spreadsheet",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100),
        "t.csv: is a spreadsheet or an archive: save the table as CSV",
    ),
    ("gz cut", ZIPPED[:-20], DAMAGED),
    ("gz and garbage", ZIPPED + b"garbage", DAMAGED),
    ("bz2", b"BZh91AY&SY" + bytes(40), COMPRESSED),
    ("zstd", b"\x28\xb5\x2f\xfd" + bytes(40), COMPRESSED),
    ("xz", b"\xfd7zXZ\0" + bytes(40), COMPRESSED),
    ("parquet magic alone", b"PAR1", "t.csv: "),
    ("parquet damaged", b"PAR1" + bytes(100) + b"PAR1", "t.csv: "),
    ("arrow damaged", b"ARROW1\0\0" + bytes(100), "t.csv: "),
    ("feather 1", b"FEA1" + bytes(100), "t.csv: "),
]
CLASSIFY = "classify_m m.mbm t.csv answer.csv"
STRICT = CLASSIFY + " --strict"
CALIBRATE = "calibrate_m --data t.csv -o out.cal m.mbm"
CONVERT = "table2agf --recipe m.c.recipe t.csv q"
EVALUATE = "eval_uc t.csv"
EVALUATE_TRUTH = EVALUATE + " --truth species"
ANSWERS = "id,class,p,p:ant,p:bee,p:cat,species\n" + "".join(
    f"r{i},{('ant', 'bee', 'cat')[i % 3]},0.6,"
    f"{','.join('0.6' if j == i % 3 else '0.2' for j in range(3))},"
    f"{('ant', 'bee', 'cat')[(i + (i % 7 == 0)) % 3]}\n"
    for i in range(30)
)


def answer(number, text):
    """The good answers with that line, from 1, in place of their own."""
    return "".join(
        text if i == number else one for i, one in enumerate(ANSWERS.splitlines(True), 1)
    )


MODELS = [
    (
        "lacks a",
        "id,b,colour\nr,1,red\n",
        "t.csv: lacks the column 'a', which the model needs",
        CLASSIFY,
    ),
    (
        "lacks a cal",
        "b,colour,species\n1,red,ant\n",
        "t.csv: lacks the column 'a', which the model needs",
        CALIBRATE,
    ),
    (
        "lacks id",
        "a,b,colour\n1,2,red\n",
        "t.csv: --id: there is no column 'id'; the columns are 'a', 'b', 'colour'",
        CLASSIFY + " --id id",
    ),
    ("lacks species cal", "a,b,colour\n1,2,red\n", NO_LABEL + " 'a', 'b',", CALIBRATE),
    (
        "lacks species agf",
        "id,a,b,colour\nr,1,2,red\n",
        "t.csv: lacks the column 'species' of the classes: --label names another one",
        CONVERT,
    ),
    (
        "label a feature",
        GOOD,
        "column 'colour' is a feature of the model",
        CALIBRATE + " --label colour",
    ),
    (
        "class unknown",
        line(5, "r3,3.5,1,red,dog\n"),
        "t.csv:5: row 4: column 'species' has the class 'dog', expected 'ant', 'bee', 'cat'",
        CALIBRATE,
    ),
    (
        "class blank",
        line(5, "r3,3.5,1,red,\n"),
        "t.csv:5: row 4: column 'species' has no class, expected 'ant', 'bee', 'cat'",
        CALIBRATE,
    ),
    (
        "class unknown agf",
        line(5, "r3,3.5,1,red,dog\n"),
        "t.csv:5: row 4: column 'species' has the class 'dog', expected 'ant', 'bee', 'cat'",
        CONVERT,
    ),
    ("word in a number", line(5, "r3,much,1,red,ant\n"), number(5, "much"), STRICT),
    ("word in a number cal", line(5, "r3,much,1,red,ant\n"), number(5, "much"), CALIBRATE),
    (
        "large",
        line(5, "r3,1e300,1,red,ant\n"),
        "t.csv:5: row 4: column 'a': 1e+300 is more than single precision holds: use a",
        STRICT,
    ),
    (
        "new rows, nothing known",
        line(5, "r3,,NA,pink,ant\n"),
        "t.csv:5: row 4: has none of the values that the model needs",
        STRICT,
    ),
    (
        "duplicate ids",
        line(5, "r1,1,1,red,ant\n"),
        "t.csv:5: row 4: column 'id' has 'r1': the id is that of an earlier row already",
        CLASSIFY,
    ),
    (
        "duplicate ids agf",
        line(5, "r1,1,1,red,ant\n"),
        "t.csv:5: row 4: column 'id' has 'r1': the id is that of an earlier row already",
        CONVERT,
    ),
    ("ragged", line(5, "r3,1,1,red,ant,6\n"), cells(5, 6), CLASSIFY),
    ("header only agf", HEAD, NO_ROWS, CONVERT),
    ("gz cut cal", ZIPPED[:-20], DAMAGED, CALIBRATE),
    ("damaged parquet", b"PAR1" + bytes(40) + b"PAR1", "t.csv: ", CLASSIFY),
    (
        "table to binary answer",
        GOOD,
        "the answers to a table are a table: expected a name that ends in .csv, .tsv",
        "classify_m m.mbm t.csv answer",
    ),
    (
        "model not of tables",
        GOOD,
        "b.mbm: was not trained from a table, and does not know its columns:",
        "classify_m b.mbm t.csv answer.csv",
    ),
    (
        "model not of tables cal",
        GOOD,
        "t.csv: is a table, and the model has no recipe of columns: expected a model",
        "calibrate_m --data t.csv b.mbm",
    ),
    (
        "output is input",
        GOOD,
        "output would overwrite test: both are the file t.csv; choose another name",
        "classify_m m.mbm t.csv t.csv",
    ),
    ("points with -M", GOOD, NO_SVM, "classify_m -M m.mbm t.csv answer.csv"),
    ("points with -A", GOOD, NO_LVQ, "classify_m -A m.mbm t.csv answer"),
    ("train -A", GOOD, NO_LVQ, "multi_borders -A pairs t.csv n n.c"),
    ("svm2agf", GOOD, NO_SVM, "svm2agf t.csv q"),
    ("lvq2agf", GOOD, NO_LVQ, "lvq2agf t.csv q"),
    ("control a table", GOOD, NO_CONTROL, "multi_borders t.csv pairs n n.c"),
    (
        "recipe a table",
        GOOD,
        "t.csv:1: expected 'agfmc table recipe', found no JSON",
        "table2agf --recipe t.csv t.csv q",
    ),
    (
        "recipe damaged",
        GOOD,
        "bad.recipe: expected 'agfmc table recipe', found another format",
        "table2agf --recipe bad.recipe t.csv q",
    ),
    ("model a table", GOOD, NO_CONTROL, "classify_m t.csv t.csv answer.csv"),
    (
        "answers: truth unknown",
        ANSWERS,
        "t.csv: --truth: there is no column 'kind'; the columns are 'id', 'class',",
        EVALUATE + " --truth kind",
    ),
    (
        "answers: no truth",
        ANSWERS.replace(",species", ",a").replace("ant\n", "fly\n"),
        "t.csv does not show which column has the true classes: --truth COLUMN names",
        EVALUATE,
    ),
    (
        "answers: ragged",
        answer(5, "r3,ant\n"),
        "t.csv:5: row 4: 2 cells, expected 7 as in the header",
        EVALUATE_TRUTH,
    ),
    (
        "answers: word p",
        answer(5, "r3,ant,.6,.6,much,.2,ant\n"),
        "t.csv:5: row 4: expected a number in column 'p:bee', found 'much'",
        EVALUATE_TRUTH,
    ),
    (
        "answers: p blank",
        answer(5, "r3,ant,.6,.6,,.2,ant\n"),
        "t.csv:5: row 4: column 'p:bee' has no number",
        EVALUATE_TRUTH,
    ),
    (
        "answers: truth blank",
        answer(5, "r3,ant,.6,.6,.2,.2,\n"),
        "t.csv:5: row 4: column 'species' has no class: expected the true class in every row",
        EVALUATE_TRUTH,
    ),
    (
        "answers: class strange",
        answer(5, "r3,dog,.6,.6,.2,.2,ant\n"),
        "t.csv: column 'class' has the class 'dog', and there is no column 'p:dog'",
        EVALUATE_TRUTH,
    ),
    ("answers: empty", "", EMPTY, EVALUATE_TRUTH),
    (
        "answers: no class",
        GOOD,
        "t.csv: there is no column 'class' of answers: a table of answers comes first, --data",
        EVALUATE_TRUTH,
    ),
]

MISTAKES = [
    (number, *row)
    for number, row in enumerate(
        RAGGED
        + QUOTES
        + ENCODINGS
        + HEADERS
        + DELIMITERS
        + NUMBERS
        + MISSING
        + CLASSES
        + ROLES
        + FILES
        + MODELS
    )
]


@pytest.fixture(scope="module")
def place(tmp_path_factory, run):
    """A folder with control files, binary files, models that take tables, and one that does not."""
    folder = tmp_path_factory.mktemp("mistakes")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "pairs").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
        (folder / "path").write_text('"" 0 / 1 2; "" 0 1 / 2; {0 1 2}')
        (folder / "bad.recipe").write_text("{}")
        (folder / "t.csv").write_text(GOOD)
        run("multi_borders", "pairs", "t.csv", "m", "m.c", *LABEL)
        run("mbh2mbm", "m.c", "m.mbm")
        run("agf_preprocess", "t.csv", "b", *LABEL)
        os.remove("b.recipe")
        run("multi_borders", "pairs", "b", "n", "n.c")
        run("mbh2mbm", "n.c", "b.mbm")
    return folder


def command_of(number, words):
    """The words of the command of a mistake."""
    if isinstance(words, str):
        return words.split()
    whole = words[:1] == ["--label"] or words == []
    command = COMMANDS[number % len(COMMANDS)]
    if not {"--label", "--id", "--ignore"}.issuperset(words[::2]):  # what a recipe says
        command = "table2agf t.csv q"
    return [*command.split(), *LABEL * (not whole), *words]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[1])
def test_one_line(mistake, place, run, monkeypatch):
    number, _, content, message, *words = mistake
    monkeypatch.chdir(place)
    (place / "t.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    before = sorted(os.listdir())
    command = command_of(number, words[0] if words else LABEL)
    # a message that begins with the name of a file is of what is in it
    done = run(*command, status=1 if message.split()[0].endswith(":") else 2)
    assert done.refused().startswith(f"{command[0]}: {message}"), done.err
    assert sorted(os.listdir()) == before


def test_each_mistake_is_named_once():
    assert len({mistake[1] for mistake in MISTAKES}) == len(MISTAKES)


@pytest.mark.long
def test_the_good_table_is_good(place, run, monkeypatch, tmp_path):
    monkeypatch.chdir(place)
    (place / "t.csv").write_text(GOOD)
    for number in range(len(COMMANDS)):
        command = command_of(number, LABEL)
        run(*(str(tmp_path / word) if word in ("q", "q.c") else word for word in command))


def test_places_in_a_stream_and_in_files_of_other_names(place, run, monkeypatch):
    monkeypatch.chdir(place)
    words = "table2agf", "-", "q", *LABEL
    stdin = line(5, "r3,3.5\n").encode()
    run(*words, stdin=stdin, status=1).refused("standard input:5: row 4: 2 cells")
    run(*words, stdin=gzip.compress(stdin), status=1).refused("standard input:5: row 4: 2 cells")
    run(*words, stdin=b"", status=1).refused("standard input: expected a table, found no line")


def test_gzip_that_grows(place, run, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setattr(opening, "_BOMB", 1 << 20)
    (place / "t.csv").write_bytes(gzip.compress((HEAD + ROWS[0] * 100_000).encode()))
    run("table2agf", "t.csv", "q", *LABEL, status=1).refused(
        "t.csv: the gzip file grows more than 200 times, beyond"
    )


@pytest.mark.parametrize(
    "columns, message",
    [
        ({"a": [1.0, None, 2.0]}, "column 'a', row 2: a missing value: --missing"),
        (
            {"a": [1.0, float("inf"), 2.0]},
            "column 'a', row 2: \"inf\" is more than single precision holds",
        ),
        (
            {"a": [1e300, 1.0, 2.0]},
            "column 'a', row 1: \"1e+300\" is more than single precision holds",
        ),
        ({"a": [[1], [2], [3]]}, "column 'a'"),
        ({"a": [b"x", b"y", b"\xff"]}, "UTF8"),
        ({"species": [None, "ant", "bee"]}, "column 'species', row 1: no class"),
        ({"species": ["ant", None, None]}, "column 'species', row 2: no class, in 2 of 3 rows"),
        ({"a": [None, None, None]}, "no column is left to be a feature; left out: 'a' (empty)"),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_tables_of_types(place, run, monkeypatch, columns, kind, message):
    pa = pytest.importorskip("pyarrow")
    made = pa.table({"a": [1.5, 2.5, 3.5], "species": ["ant", "bee", "cat"], **columns})
    name = f"x.{kind}"
    monkeypatch.chdir(place)
    with pa.OSFile(name, "wb") as file:
        if kind == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(made, file)
        else:
            pytest.importorskip("pyarrow.feather").write_feather(made, file)
    try:
        run("table2agf", name, "q", "--label", "species", "-E", "error", status=1).refused(
            f"{name}: ", message
        )
        assert not [one for one in os.listdir() if one.startswith("q")]
        content = (place / name).read_bytes()
        for cut in (len(content) // 2, len(content) - 3):
            (place / name).write_bytes(content[:cut])
            run("table2agf", name, "q", "--label", "species", "-E", "error", status=1).refused(
                f"{name}: "
            )
    finally:
        os.remove(name)
