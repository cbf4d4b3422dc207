"""The joining of finished models to one ensemble, for mbh2mbm."""

from ...data.training import read_points
from ...executors.threads import available_cores
from ...models.join import join
from ...prediction.known_points import answers_of_data
from ...prediction.member_weights import weighed_by_data
from ...prediction.recalibrate import default_decodings, recalibrated


def join_models(request, parts):
    """The ensemble of several configurations, weighed and calibrated by data, and lines on it."""
    form, source = request.data_form, request.data
    configuration = join(parts)
    if source is None:
        return configuration, [
            "the average is not calibrated: --data calibrates it with points "
            "that no member was trained on"
        ]
    data = read_points(source, form, configuration.recipe)
    owners = [model.path for model, part in zip(request.models, parts) for _ in part.tree.roots]
    lines = []
    if request.member_weights is not None:
        configuration, members = weighed_by_data(configuration, data, form.kind, source)
        lines = [
            "weights of the members: "
            + ", ".join(
                f"{owners[number]} {weight:g}"
                for number, weight in zip(members, configuration.tree.weights)
            )
        ]
        if len(members) < len(owners):
            lines[0] += "; left out: " + ", ".join(
                name for number, name in enumerate(owners) if number not in members
            )
    tree = configuration.tree
    cores = available_cores()
    configuration, reports = recalibrated(
        configuration,
        (
            (
                decoding.calibration_key(tree),
                answers_of_data(configuration, decoding, data, form.kind, source, cores),
            )
            for decoding in default_decodings(configuration).values()
        ),
    )
    scores = reports[0]["scores"]["log_loss"]
    return configuration, [
        *lines,
        f"calibrated with {reports[0]['points']} points: log loss "
        f"{scores['before']['value']:.4g} -> "
        f"{scores['after']['value']:.4g} "
        f"({reports[0]['decoder']}, {reports[0]['map']})",
    ]
