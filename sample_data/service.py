"""A model as a service for HTTP, with FastAPI.

    pip install agfmc fastapi uvicorn
    MODEL=penguins.mbm uvicorn service:app --port 8000
    curl localhost:8000/classify -H 'Content-Type: application/json' -d '[{"island": "Dream", ...}]'

Rows are JSON objects with the columns of the training table; null is a missing value. The answer
has, for each row in its place, the class, the probabilities of all classes, and flags of what is
unlike training, as "mass: above", and the warnings about all rows. A row that cannot be answered
has the class null; rows that lack a column come back with status 422, and a request of too many
bytes with 413.
"""

import os
import threading
import warnings

from fastapi import FastAPI, HTTPException

import agfmc

MOST_ROWS = 10_000  # of a request
MOST_BYTES = 10_000_000  # of a request, which are refused before rows are made of them

model = agfmc.load(os.environ["MODEL"])
classifier = agfmc.Classifier(model)
warnings_lock = threading.Lock()  # warnings are those of the whole process
app = FastAPI(title="agfmc")


class LimitedBody:
    """Middleware that ends a request when more bytes than `MOST_BYTES` have come."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        """Answer a request, whose body comes in messages of `receive`."""
        left = MOST_BYTES

        async def receive_limited():
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, f"expected at most {MOST_BYTES} bytes")
            return message

        await self.app(scope, receive_limited, send)


app.add_middleware(LimitedBody)


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
def classify(rows: list[dict]) -> dict:
    """The class of each row, the probabilities of all classes, and the warnings."""
    if not 0 < len(rows) <= MOST_ROWS:
        raise HTTPException(422, f"expected 1 to {MOST_ROWS} rows, found {len(rows)}")
    with warnings_lock, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", agfmc.AgfmcWarning)
        try:
            names, probabilities, flags = classifier.predict(rows, flags=True)
        except agfmc.DataError as error:
            raise HTTPException(422, error.message) from error
    return {
        "answers": [
            {
                "class": name,
                "p": dict(zip(classifier.names, (None if x != x else x for x in p.tolist()))),
                "flags": of_row,
            }
            for name, p, of_row in zip(names, probabilities, flags)
        ],
        "warnings": [str(warning.message) for warning in caught],
    }
