"""Tables of known truth: rules of words, noise, and two as people bring them, with a clean copy.

A table is a dictionary of columns, all of the same length, with the classes in `class`. Every
function draws from a seed, and gives the same table for the same seed.
"""

import csv
import itertools

import numpy as np

# -- rules without noise: the true log loss is 0 -----------------------------------------------


def balance():
    """All 625 loads of a balance: it falls to the side of the larger weight times distance."""
    weight, distance, other_weight, other_distance = combinations(*[range(1, 6)] * 4)
    torque = weight * distance - other_weight * other_distance
    return {
        "left_weight": weight,
        "left_distance": distance,
        "right_weight": other_weight,
        "right_distance": other_distance,
        "class": np.array(["right", "balanced", "left"])[np.sign(torque) + 1],
    }


CAR_WORDS = {
    "price": ("very high", "high", "medium", "low"),
    "upkeep": ("very high", "high", "medium", "low"),
    "doors": ("two", "three", "four", "five"),
    "persons": ("two", "four", "six"),
    "boot": ("small", "medium", "big"),
    "safety": ("low", "medium", "high"),
}


def car_rules():
    """All 1728 combinations of six words; four classes by a rule in steps."""
    price, upkeep, doors, persons, boot, safety = combinations(*map(_positions, CAR_WORDS.values()))
    cheap = price + upkeep
    roomy = (persons > 0) * (doors // 2 + boot + (persons > 1))
    useless = (persons == 0) | (safety == 0) | (cheap < 2) | (roomy == 0)
    quality = cheap + 2 * roomy + 3 * safety
    grade = np.select([useless, quality < 13, quality < 17], [0, 1, 2], 3)
    return _spell(CAR_WORDS, (price, upkeep, doors, persons, boot, safety)) | {
        "class": np.array(["unacceptable", "acceptable", "good", "very good"])[grade]
    }


NURSERY_WORDS = {
    "parents": ("usual", "pretentious", "great"),
    "nursery": ("proper", "less", "improper", "critical", "very critical"),
    "form": ("complete", "completed", "incomplete", "foster"),
    "children": ("1", "2", "3", "more"),
    "housing": ("convenient", "less", "critical"),
    "finance": ("convenient", "inconvenient"),
    "social": ("none", "slight", "problematic"),
    "health": ("recommended", "priority", "refused"),
}


def nursery_rules():
    """All 12960 combinations of eight words; health decides first, then a sum, with exceptions.

    The exception: foster families with three children or more in critical housing have the
    priority of the next class, whatever the sum.
    """
    codes = combinations(*map(_positions, NURSERY_WORDS.values()))
    parents, nursery, form, children, housing, finance, social, health = codes
    need = 2 * parents + 2 * nursery + form + children + housing + finance + 2 * (social == 2)
    grade = 1 + (need > 7).astype(int) + (need > 13)
    grade += health == 1
    exception = (form == 3) & (children >= 2) & (housing == 2)
    grade = np.where(exception, grade + 1, grade).clip(max=4)
    grade = np.where(health == 2, 0, grade)
    names = np.array(["not recommended", "recommended", "priority", "special", "urgent"])
    return _spell(NURSERY_WORDS, codes) | {"class": names[grade]}


def combinations(*values):
    """Columns of all combinations of values, the last one fastest."""
    return np.array(list(itertools.product(*values))).T


def _positions(words):
    return range(len(words))


def _spell(words, codes):
    """Columns of words by their positions."""
    columns = zip(words.items(), codes)
    return {name: np.array(spellings)[positions] for (name, spellings), positions in columns}


def sensors(seed=1, rows=2500, distances=24):
    """Distances around a robot, four moves by thresholds of three of them: what trees are made for.

    Neighbours are alike; the first one is to the front.
    """
    rng = np.random.default_rng([seed, 56])
    walls = rng.gamma(2.0, 0.8, (rows, distances // 2)).repeat(2, axis=1)
    distance = (walls * np.exp(0.25 * rng.normal(size=walls.shape))).clip(0.3, 5.0)
    front, left, right = distance[:, 0], distance[:, distances // 4], distance[:, -distances // 4]
    move = np.select([front < 0.9, left > 2.2, (right < 0.9) & (front < 2.5)], [0, 1, 2], 3)
    columns = {f"d{number}": np.round(values, 3) for number, values in enumerate(distance.T)}
    return columns | {"class": np.array(["sharp", "left", "slight", "forward"])[move]}


# -- noise: the true probabilities are known ---------------------------------------------------


def shells(seed=1, rows=2500):
    """Shells in three classes of age by sizes and weights that rise together; -> table, p (n, 3).

    Classes are drawn by p of the order old, middle, young, so that no model can do better.
    """
    rng = np.random.default_rng([seed, 57])
    growth = rng.beta(4, 2, rows)
    length = 0.1 + 0.65 * growth + 0.03 * rng.normal(size=rows)
    diameter = 0.8 * length + 0.012 * rng.normal(size=rows)
    height = 0.34 * diameter * np.exp(0.1 * rng.normal(size=rows))
    whole = 6 * length * diameter * height * np.exp(0.08 * rng.normal(size=rows))
    shell = 0.28 * whole * np.exp(0.2 * rng.normal(size=rows))
    meat = 0.43 * whole * np.exp(0.15 * rng.normal(size=rows))
    infant = rng.random(rows) < 1 / (1 + np.exp(14 * (growth - 0.55)))
    male = rng.random(rows) < 0.53
    sex = np.where(infant, "I", np.where(male, "M", "F"))
    thickness = np.log(shell / (length * diameter))
    age = 5 * (growth - 0.67) + 2.2 * (thickness - thickness.mean()) - 0.8 * infant
    scores = np.c_[0.9 * age, np.full(rows, 0.3), -1.1 * age]
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    drawn = (p.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1)
    measures = dict(length=length, diameter=diameter, height=height, whole=whole)
    measures |= dict(meat=meat, shell=shell)
    columns = {name: np.round(values, 4) for name, values in measures.items()}
    return {"sex": sex, **columns, "class": np.array(["old", "middle", "young"])[drawn]}, p


# -- tables as people bring them, and the same cleaned by hand -----------------------------------

HABITATS = ("meadow", "forest", "scree", "pasture")
ACTS = ("grazing", "moving", "resting", "watching")
ANIMALS = tuple(
    first + second
    for first in ("Al", "Bel", "Cor", "Da", "Eli", "Fa", "Gor", "Ha")
    for second in ("ba", "do", "ma", "ra", "vin")
)


def collars(seed=1, rows=711, animals=40):
    """Positions of animals with collars, as a biologist stores them; -> (table, cleaned).

    Of every animal there are runs of rows, and its habits are its own. In the table, all of text,
    the mass is in kg or in g, -999 stands for temperatures that failed, `-` for speeds, habitats
    are spelled in several ways, shares have percent signs, positions have two numbers in a cell,
    times are 9:05, and the number of the fix counts through the classes, which tells the class
    of these rows, and nothing of any other. Cleaned, there are numbers, NaN and words, without
    fix and position; `animal` stays for divisions, and tells nothing of another animal.
    """
    rng = np.random.default_rng([seed, 58])
    animal = np.sort(np.r_[np.arange(animals), rng.integers(0, animals, rows - animals)])
    habit = 0.8 * rng.normal(size=(animals, len(ACTS)))[animal]
    mass = np.round(rng.normal(6.5, 1.1, animals).clip(3.5)[animal], 1)
    minute = rng.integers(4 * 60, 22 * 60, rows)
    temperature = np.round(rng.normal(11, 6, rows) + 4 * np.sin((minute - 480) / 229), 1)
    speed = np.round(rng.gamma(1.2, 0.5, rows), 2)
    battery = rng.integers(12, 101, rows)
    habitat = rng.choice(len(HABITATS), rows, p=(0.4, 0.3, 0.1, 0.2))
    north = np.round(rng.normal(47.1, 0.2, animals)[animal] + rng.normal(0, 0.02, rows), 4)
    east = np.round(rng.normal(9.4, 0.3, animals)[animal] + rng.normal(0, 0.02, rows), 4)
    day = np.cos(2 * np.pi * (minute - 13 * 60) / 1440)
    scores = (
        habit
        + np.c_[
            1.2 * np.isin(habitat, (0, 3)) - 1.6 * day,
            3.0 * (np.minimum(speed, 1.2) - 0.5),
            1.2 * day + 0.12 * (temperature - 11) - 1.2 * speed,
            1.2 * (habitat == 2) + 0.8 * (mass - 6.5),
        ]
    )
    act = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    names = np.array(ACTS)[act]
    fix = np.empty(rows, int)
    fix[np.argsort(act, kind="stable")] = 1001 + np.arange(rows)
    failed, lost = rng.random(rows) < 0.06, rng.random(rows) < 0.05
    words = np.array(HABITATS)[habitat]
    spelled = np.array([_respell(word, rng) for word in words])
    in_grams = rng.random(animals)[animal] < 0.2
    date = np.datetime64("2023-05-01") + rng.integers(0, 120, rows)
    table = {
        "fix": np.char.mod("%d", fix),
        "animal": np.array(ANIMALS)[animal],
        "date": np.datetime_as_string(date),
        "time": np.array([f"{value // 60}:{value % 60:02d}" for value in minute]),
        "position": np.array([f"{a:.4f}, {b:.4f}" for a, b in zip(north, east)]),
        "mass": np.where(
            in_grams, np.char.mod("%.0f g", 1000 * mass), np.char.mod("%.1f kg", mass)
        ),
        "temperature": np.where(failed, "-999", np.char.mod("%.1f", temperature)),
        "speed": np.where(lost, "-", np.char.mod("%.2f", speed)),
        "battery": np.char.mod("%d%%", battery),
        "habitat": spelled,
        "class": names,
    }
    cleaned = {
        "animal": table["animal"],
        "day": (date - date.min()).astype(int),
        "hour": minute / 60,
        "north": north,
        "east": east,
        "mass": mass,
        "temperature": np.where(failed, np.nan, temperature),
        "speed": np.where(lost, np.nan, speed),
        "battery": battery,
        "habitat": words,
        "class": names,
    }
    return table, cleaned


def _respell(word, rng):
    """A word, of which one in ten has another case."""
    return rng.choice([word, word.capitalize(), word.upper()], p=(0.9, 0.06, 0.04))


SOILS = ("Lehm", "Sand", "Löss", "Moor", "Geröll")
TREES = ("Buche", "Fichte", "Föhre", "Weißtanne")


def survey(seed=1, rows=600, plots=60):
    """Plots of a German forest survey, ten trees in each; -> (table, cleaned).

    In the table, all of text, decimals have commas, heights end in ` m`, trunks have marks of
    thousands, small concentrations are `<0,05`, `k.A.` stands where nothing is known, slopes have
    percent signs, and some of the classes are spelled without their capital. Cleaned, there are
    numbers, NaN and words; half of the limit stands for what is below it.
    """
    rng = np.random.default_rng([seed, 59])
    plot = np.arange(rows) * plots // rows
    taste = 0.5 * rng.normal(size=(plots, len(TREES)))[plot]
    height = np.round(rng.uniform(280, 1650, plots))[plot] + rng.integers(-8, 9, rows)
    acid = np.round(rng.normal(5.2, 0.9, plots)[plot] + rng.normal(0, 0.15, rows), 2)
    nitrate = np.round(np.exp(rng.normal(-1.4, 1.1, rows)), 2)
    slope = rng.integers(0, 71, rows)
    girth = np.round(np.exp(rng.normal(6.6, 0.5, rows)))
    soil = rng.integers(0, len(SOILS), plots)[plot]
    scores = (
        taste
        + np.c_[
            1.6 * (acid - 5.2) - (height - 800) / 350,
            (height - 800) / 300 - 0.8 * (acid - 5.2),
            1.8 * np.isin(soil, (1, 4)) - 0.5 * np.log(nitrate + 0.02) - 1.2,
            (height - 900) / 500 + 1.3 * (soil == 0) + 0.02 * (slope - 35),
        ]
    )
    kind = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    names = np.array(TREES)[kind]
    unknown, unseen = rng.random(rows) < 0.07, rng.random(rows) < 0.04
    below = nitrate < 0.05
    lower = rng.random(rows) < 0.03
    table = {
        "Fläche": np.array([f"W{number:03d}" for number in plot + 1]),
        "Höhe": np.char.mod("%d m", height.astype(int)),
        "pH-Wert": np.where(unknown, "k.A.", _with_commas("%.2f", acid)),
        "Nitrat": np.where(below, "<0,05", _with_commas("%.2f", nitrate)),
        "Neigung": np.where(unseen, "k.A.", np.char.mod("%d %%", slope)),
        "Stammumfang": np.array([f"{int(value):,}".replace(",", ".") for value in girth]),
        "Boden": np.array(SOILS)[soil],
        "class": np.where(lower, np.char.lower(names), names),
    }
    cleaned = {
        "Fläche": table["Fläche"],
        "Höhe": height,
        "pH-Wert": np.where(unknown, np.nan, acid),
        "Nitrat": np.where(below, 0.025, nitrate),
        "Nitrat below": below.astype(int),
        "Neigung": np.where(unseen, np.nan, slope),
        "Stammumfang": girth,
        "Boden": table["Boden"],
        "class": names,
    }
    return table, cleaned


def _with_commas(form, values):
    return np.char.replace(np.char.mod(form, values), ".", ",")


def mend(table):
    """The table after what nobody but its owner can know: all masses are in kg, as in most rows."""
    if "mass" not in table:
        return table
    masses = [mass.split() for mass in table["mass"]]
    in_kg = [float(number) / (1000 if unit == "g" else 1) for number, unit in masses]
    return table | {"mass": np.char.mod("%.1f kg", in_kg)}


def select_rows(table, rows):
    """The table of some of the rows."""
    return {name: np.asarray(values)[rows] for name, values in table.items()}


def write_columns(path, table, delimiter=",", encoding="utf-8"):
    """A text file of the table, with a heading; the survey has semicolons and Windows-1252."""
    with open(path, "w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(table)
        writer.writerows(zip(*table.values()))
