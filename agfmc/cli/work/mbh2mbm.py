"""The work of mbh2mbm."""

from ...calibration.file import calibration_of
from ...core.errors import warn_user
from ...data.class_names import read_names_of
from ...models.control_files import model_files
from ...models.files import export, load_configuration, save
from ...models.privacy import without_rows
from ..hints import classify_command
from ..messages import report
from ..options import check_files


def run(request):
    """Read, merge, write, and say how many support vectors remain."""
    out, form, control = request.out, request.form, request.models[0].path
    parts = [load_configuration(model) for model in request.models]
    models = [
        path
        for part, model in zip(parts, request.models)
        if part.merged_from is not None
        for path in model_files(part.tree, model.models_in, [out])
    ]
    inputs = [model.path for model in request.models]
    check_files(request.files, inputs={"control": [*inputs, calibration_of(control), *models]})
    lines = []
    configuration = parts[0]
    if request.join:
        from .join_models import join_models

        configuration, lines = join_models(request, parts)
    if request.names is not None:
        configuration = configuration.renamed(
            read_names_of(request.names, configuration.tree.classes, request.models[0].names)
        )
    if request.without_rows:
        configuration = without_rows(configuration)
    if form in ("c", "onnx"):
        from .write_program import write_program

        write_program(request, configuration)
        return
    before = configuration.merged_from
    if form == "mbm":
        save(out, configuration)
    else:
        export(out, configuration, form)
    if configuration.lacks_normalisation and (form != "mbm" or request.models[0].named):
        alike = "points must be normalised in the same way before they are classified, which "
        then = {
            "mbm": "classify_m will need it",
            "ascii": f"{alike}this format cannot record",
            "svm": f"{alike}svm-predict does not check (classify_m does)",
        }[form]
        warn_user(
            f"{control}: trained on normalised points, and no normalisation is given (-a): {then}"
        )
    after = len(configuration.machines.sv)
    vectors = f"{after} support vectors"
    if before is not None:
        share = f" ({100 * after / before:.1f} %)" if before else ""
        vectors = f"{before} support vectors, {after} after merging{share}"
    for line in lines:
        report(line)
    report(
        f"{len(configuration.tree.rows)} binary models, {vectors}{_remarks(request, configuration)}"
    )


def _remarks(request, configuration):
    """Words on what the file holds besides, or cannot hold, and on what to do with it."""
    calibration, recipe = configuration.calibration, configuration.recipe
    text = ""
    if request.form != "mbm":
        if calibration is not None:
            text = ", without the calibration: that format cannot store it"
        if recipe is not None:
            text += ", without the recipe: table2agf --recipe writes points for it"
        return text
    if calibration is not None:
        text = f", with a calibration of {len(calibration.decoders)} decoders"
    if configuration.lacks_normalisation:
        return text
    if recipe is None:
        command = classify_command(request.out, "binary")
    else:
        command = classify_command(request.out, "table", recipe.source)
    return f"{text}; classify new data with: {command}"
