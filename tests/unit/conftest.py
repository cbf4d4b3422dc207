"""What several rooms share: a pipe with bytes in it, and the properties of codes."""

import os
import threading
import numpy as np

import pytest


@pytest.fixture
def pipe_of():
    """Function from bytes to the reading end of a pipe that a thread fills with them."""
    opened = []

    def make(data):
        read, write = os.pipe()

        def fill():
            with os.fdopen(write, "wb") as file:
                file.write(data)

        thread = threading.Thread(target=fill)
        thread.start()
        opened.append((os.fdopen(read, "rb"), thread))
        return opened[-1][0]

    yield make
    for file, thread in opened:
        thread.join()
        file.close()


@pytest.fixture(scope="session")
def connected():
    """True where every class is joined to every other through rows that hold both."""

    def check(a):
        near = (np.abs(a).T.astype(float) @ np.abs(a)) > 0
        group = {0}
        while new := {j for i in group for j in np.flatnonzero(near[i])} - group:
            group |= new
        return len(group) == a.shape[1]

    return check


@pytest.fixture(scope="session")
def check_code(connected):
    """Both signs in every row, none twice or opposite, all classes joined; -> matrix (m, k)."""
    from agfmc.control.matrix import rows_to_matrix

    def check(rows, k, strict=False):
        a = rows_to_matrix(rows, k).astype(float)
        assert ((a < 0).any(axis=1) & (a > 0).any(axis=1)).all()
        assert not strict or a.all()
        assert len({min(row.tobytes(), (-row + 0.0).tobytes()) for row in a + 0.0}) == len(a)
        assert connected(a)
        return a

    return check


@pytest.fixture
def failed_checks():
    """Function: {check: error} of scikit-learn's checks that an estimator fails unexpectedly."""
    import sklearn
    from sklearn.utils.estimator_checks import check_estimator

    from agfmc.estimators import EXPECTED_FAILED_CHECKS

    def failed_checks(estimator):
        if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 6):
            check_estimator(estimator)  # a tag has the expected failures; it raises others
            return {}
        results = check_estimator(
            estimator, expected_failed_checks=EXPECTED_FAILED_CHECKS, on_skip=None, on_fail=None
        )
        return {
            result["check_name"]: result["exception"]
            for result in results
            if result["status"] == "failed"
        }

    return failed_checks
