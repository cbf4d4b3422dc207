"""The work of calibrate_m."""

import sys

from ...calibration.file import format_calibration
from ...control.tree import TREE_DECODERS
from ...core.errors import UsageError, warn_user
from ...data.training import read_points
from ...decode.methods import DEFAULT
from ...files.atomic import replacing
from ...models.control_files import model_files
from ...models.description import has_class_weights
from ...models.files import load_configuration, save
from ...prediction.decoding import decoders_of, Decoding
from ...prediction.known_points import answers_of_data, answers_of_files
from ...prediction.recalibrate import default_decodings, recalibrated
from ...report.calibrations import calibration_blocks
from ...report.text import blocks_text
from ..data_options import check_normalised
from ..messages import json_text
from ..options import check_files


def run(request):
    """Read the model and the points, fit, write, print."""
    model, output, of_data = request.model, request.output, request.data is not None
    configuration = load_configuration(model)
    models = []
    if output is not None and configuration.merged_from is not None:
        models = [model.path, *model_files(configuration.tree, model.models_in, [output])]
    check_files(request.files, {"--output": [output]}, {"model": models, "--calibration": []})
    if of_data:
        check_normalised(configuration, request.form, model)
    if of_data and request.class_weight is None and has_class_weights(configuration):
        warn_user(
            f"{model.path} was trained with class weights, and the points have none: its "
            "probabilities become those of the points, and --priors of classify_m would "
            "turn them back once more; give --class-weight as in training"
        )
    stored = {}
    if of_data and configuration.calibration is not None:
        stored = configuration.calibration.decoders
    with request.workers as pool:
        configuration, reports = recalibrated(
            configuration,
            _answers(request, configuration, pool),
            request.map,
            request.seed,
            request.folds,
            stored,
        )
    if request.as_text:
        with replacing(output) as file:
            file.write(format_calibration(configuration.calibration, output))
    elif output is not None:
        save(output, configuration)
    if request.json:
        sys.stdout.write(json_text(reports))
    else:
        sys.stdout.write(blocks_text(calibration_blocks(reports)))
    sys.stdout.flush()


def _answers(request, configuration, pool):
    tree, way, model = configuration.tree, request.tree, request.model.path
    if way is not None and not tree.hierarchical:
        raise UsageError(f"--tree is for trees, and {model} is none")
    if way is not None and (TREE_DECODERS[way] == "ensembles") != tree.is_ensemble:
        raise UsageError(
            f"--tree {way} is for {TREE_DECODERS[way]}, and {model} "
            f"is {'an ensemble' if tree.is_ensemble else 'one tree'}"
        )
    if way is not None:
        decodings = [Decoding(DEFAULT.name if request.decoder is None else request.decoder, way)]
    elif request.decoder is not None:
        decodings = decoders_of(tree, (request.decoder,))
    else:
        decodings = list(default_decodings(configuration).values())
        decodings = decodings[: None if request.base is None else 1]
    if request.data is None:
        data = None
    else:
        data = read_points(request.data, request.form, configuration.recipe)
    for decoding in decodings:
        key = decoding.calibration_key(tree)
        if key is None:
            raise UsageError(
                f"the decoder {decoding.decoder.name} does not give the probabilities "
                "of all classes: it has no calibration"
            )
        yield (
            key,
            answers_of_files(configuration, key, request.base)
            if data is None
            else answers_of_data(
                configuration, decoding, data, request.form.kind, request.data, pool
            ),
        )
