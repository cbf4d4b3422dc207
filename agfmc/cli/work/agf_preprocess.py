"""The work of agf_preprocess."""

import os
import sys

from ...data import groups, weights
from ...data.preprocess import covariances, part_names, preprocess
from ...data.table_parts import divide_table, table_names
from ..messages import report, write_bytes
from ..options import check_files, data_files, refuse_ending


def run(request):
    """Divide the data, or print their covariances."""
    recipe, source, output, test = request.recipe, request.source, request.output, request.test
    if request.to_table:
        names = [name for name in table_names(recipe, output, test) if name != test]
        check_files(request.files, {"output": names, "test": [test]}, {"input": [source]})
        _report(divide_table(recipe, source, output, test, write_bytes))
    elif request.covariance:
        for row in covariances(recipe, source):
            sys.stdout.write("".join("%12.6g " % value for value in row) + "\n")
    else:
        _check_files(request)
        _report(preprocess(recipe, source, output, test, sys.stdout.buffer))


def _report(written):
    report(
        ", ".join(
            f"{'standard output' if base == '-' else base}: {rows} rows"
            for base, rows in written.items()
        )
    )


def _check_files(request):
    recipe, source, output, test = request.recipe, request.source, request.output, request.test
    kind = recipe.output_form.kind
    ends = (".vec", ".dat" if recipe.form.ordinates else ".cls", ".names", ".recipe")
    if not recipe.form.labels:
        ends = ends[:1]
    for base in (output, test) if kind == "binary" else ():
        refuse_ending(base or "-", ends[:2])
    if recipe.parts is None:
        bases = [output]
    else:
        bases = part_names(output, recipe.parts)
    more = [one.ENDING if kind == "binary" else one.TEXT_ENDING for one in (weights, groups)]
    written = {
        what: [
            path
            for base in names
            if base is not None
            for path in (
                *data_files(base, kind, ends),
                *(base + end for end in more if base != "-"),
            )
        ]
        for what, names in (("output", bases), ("test", [test]))
    }
    if recipe.fit is not None and recipe.norm_out is None:
        written["the normalisation"] = [f"{output}.std"]
    data = data_files(source, recipe.form.kind)
    read = {"input": data}
    # in place, as by sort -o, but no row of what may be the only copy must be missing then
    same = list(map(os.path.realpath, data)) == list(
        map(os.path.realpath, data_files(output, kind))
    )
    if same and all(
        step is None for step in (recipe.fraction, recipe.parts, recipe.partition, recipe.rows)
    ):
        read = {"input": [], "--weight": [], "--group": []}
    check_files(request.files, written, read)
