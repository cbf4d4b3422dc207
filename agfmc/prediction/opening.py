"""A classifier, from the file that a user names and what is to be done with it."""

from __future__ import annotations

import warnings

from ..errors import AgfmcWarning, UsageError
from ..formats.controlfile import model_file, read_control, require_regular
from .configuration import Configuration, load, read_directs
from .run_consistency import normalised
from .classifier import Classifier
from .decision_values import MachineValues

__all__ = ["open_classifier"]


def open_classifier(path, kind, *, method="0", tree="recursive", raw=False, reject=None,
                    normalisation=None, unnormalised=False, models_in=None, sigmoid=None,
                    predictor=None, allow_commands=False, keep=False, workers=1,
                    counting=False, pair_errors=None, priors=None, trained_priors=None,
                    **asking):
    """A `Classifier` for points of that kind ("binary", "svm" or "lvq").

    path: a control file or any model file; predictor: text of a command that
    reads the binary models, or None; allow_commands: run those of code G;
    keep: their temporary files stay; workers: how many commands run at a time;
    pair_errors: file of the errors of pairs, for radag; priors: proportions of the
    classes where the points come from, as for `proportions`, or None; trained_priors:
    those in training, None for what the models tell; asking: other fields of
    `AskOptions`.  Other arguments as for `Classifier`, `gather` and `MachineValues`.
    """

    def commands(text):
        from ..learners.commands import Command
        from .external import Predictor

        return Predictor(Command(text), "lvq" if kind == "lvq" else "svm", keep, workers)

    allowed = commands if allow_commands else None
    if predictor is None:
        configuration = load(path, normalisation, models_in, unnormalised=unnormalised,
                             commands=allowed)
        model = configuration.model
        if normalised(model):
            warnings.warn(f"{path}: trained on normalised points, and no normalisation is given "
                          "(-a): the points are taken as normalised already", AgfmcWarning,
                          stacklevel=2)
        return Classifier(configuration, method, tree, raw, reject,
                          MachineValues(model, kind == "svm", sigmoid),
                          _asking(configuration.tree, pair_errors, asking), counting,
                          _adjustment(configuration.tree, model, model.direct, priors,
                                      trained_priors))
    from .external import ExternalValues

    if raw or str(method) in ("-1", "binary", "raw"):
        raise UsageError("-O writes classes and probabilities: -0 and -Q -1 do not go with it")
    if unnormalised or sigmoid is not None:
        raise UsageError(f"{'-u' if unnormalised else '-c'} is for support vector machines: it "
                         "does not go with -O")
    control = read_control(path)
    control.require_names()
    models, direct = read_directs(control, models_in, allowed)

    def place(name):
        require_regular(model_file(name, models_in))
        return model_file(name, models_in)

    values = ExternalValues(control, commands(predictor), normalisation, place)
    mode = "path" if tree == "recursive" else tree  # its one probability has a place here
    return Classifier(Configuration(None, control, None, direct), method, mode, raw, reject, values,
                      _asking(control, pair_errors, asking), counting,
                      _adjustment(control, None, models, priors, trained_priors))


def _adjustment(tree, model, directs, priors, trained):
    if priors is None:
        if trained is not None:
            raise UsageError("--trained-priors goes with --priors")
        return None
    from .priors import adjustment

    return adjustment(tree, model, directs, priors, trained)


def _asking(tree, pair_errors, asking):
    """`AskOptions`, with the errors of the pairs in the order of the tree's labels."""
    from ..decode.asked import AskOptions

    weights = None
    if pair_errors is not None:
        from ..formats.pair_errors import read_pair_errors

        weights = read_pair_errors(pair_errors).error_rates(tree.labels)
    return AskOptions(weights=weights, **asking)
