"""What configurations say of themselves."""

import numpy as np

import agfmc


def test_a_configuration_and_a_classifier_print_few_lines():
    rng = np.random.default_rng(5)
    model = agfmc.train("tree", rng.normal(size=(60, 2)), np.repeat(["b", "a c", "d"], 20))
    lines = repr(model).splitlines()
    assert len(lines) == 3
    assert lines[0] == "<Configuration: decision tree of 3 classes, a c, b, d"
    assert "2 binary classifiers, " in lines[1] and "support vectors; 2 features" in lines[1]
    assert lines[2].startswith(" calibration: recursive") and lines[2].endswith("held out)>")
    assert repr(agfmc.Classifier(model)).splitlines()[0] == "<Classifier: decoder recursive"
