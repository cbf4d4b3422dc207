"""A real pipe with bytes in it."""

import os
import threading

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
