"""Models as programs in C and ONNX models, for mbh2mbm."""

import shlex

from ...deployment.c import c_program
from ...deployment.onnx_graph import onnx_model
from ...deployment.steps import steps_of
from ...files.atomic import replacing
from ..messages import report


def write_program(request, configuration):
    """Write a configuration as a program in C, or as an ONNX model."""
    steps = steps_of(configuration, request.decoder, request.features)
    if request.form == "onnx":
        content = onnx_model(steps, configuration)
        then = ""
    else:
        content = c_program(steps, request.float).encode("ascii")
        then = (
            "; cc -O3 -std=c99 -DMODEL_MAIN -o model "
            f"{shlex.quote(request.out)} -lm makes a program of it"
        )
    with replacing(request.out, binary=True) as file:
        file.write(content)
    report(
        f"{len(configuration.tree.rows)} binary models, {len(content) / 1e6:.3g} MB of "
        f"{request.form.upper()}, decoder {steps.classifier.decoding.name}{then}"
    )
