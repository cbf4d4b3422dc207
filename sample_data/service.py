"""A model as a service for HTTP, with FastAPI.

    pip install agfmc fastapi uvicorn
    MODEL=penguins.mbm uvicorn service:app --port 8000
    curl localhost:8000/classify -H 'Content-Type: application/json' -d '[{"island": "Dream", ...}]'

Rows are JSON objects with the columns of the training table; null is a missing value. The answer
has, for each row in its place, the class and the probabilities of all classes. What is wrong with a
row comes back with status 422.
"""

import os
import warnings

from fastapi import FastAPI, HTTPException

import agfmc

MOST = 10_000  # rows of a request

warnings.simplefilter("ignore", agfmc.AgfmcWarning)  # of unknown words, and of what is filled
model = agfmc.load(os.environ["MODEL"])
classifier = agfmc.Classifier(model)
app = FastAPI(title="agfmc")


@app.get("/model")
def columns() -> dict:
    """The columns that a row needs, and the classes."""
    return {
        "classes": classifier.names,
        "columns": {
            one.name: one.categories or one.order or ("date" if one.date else "number")
            for one in model.recipe.columns
        },
    }


@app.post("/classify")
def classify(rows: list[dict]) -> list[dict]:
    """The class of each row, and the probabilities of all classes."""
    if not 0 < len(rows) <= MOST:
        raise HTTPException(422, f"expected 1 to {MOST} rows, found {len(rows)}")
    try:
        names, probabilities = classifier.predict(rows)
    except agfmc.DataError as error:
        raise HTTPException(422, error.message) from error
    return [
        {"class": name, "p": dict(zip(classifier.names, p.tolist()))}
        for name, p in zip(names, probabilities)
    ]
