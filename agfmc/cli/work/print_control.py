"""The work of print_control, which loads no library where a number of classes is laid out."""

import sys

from ...control.build import for_output, with_options, without_names
from ...control.graphviz import format_dot
from ...control.tree import changed
from ...control.write import require_readable, tree_lines
from ...core.errors import UsageError
from ...designs.design import make_design
from ..messages import write_stdout


def run(request):
    """Design, draw and print a control tree."""
    if request.of_number:
        tree, heights = _designed(request)
    else:
        from .design_sources import read_design

        tree, heights = read_design(request)
    if request.options:
        tree = with_options(tree, request.options)
    if not request.head:
        tree = without_names(tree)
    elif request.names is not None:
        from ...data.class_names import read_names_of

        tree = changed(tree, names=read_names_of(request.names, tree.classes))
    require_readable(tree)
    if request.print_matrix:
        from .design_sources import print_matrix

        print_matrix(tree)

    def draw(path):
        from ...report.chart_control import draw_control

        draw_control(path, tree, heights)

    printed = request.reports.write({".dot": lambda: format_dot(tree)}, draw)
    if printed is not None:
        sys.stdout.write(printed)
    else:
        write_stdout(tree_lines(for_output(tree), request.by_name))
    sys.stdout.flush()


def _designed(request):
    """(tree, heights) for a number of classes, as of `make_design`."""
    scheme, source = request.scheme, request.source
    if "classes" not in scheme.made_of:
        expected = " or ".join(
            {"data": "training data", "confusions": "a contingency table"}[word]
            for word in scheme.made_of
        )
        raise UsageError(
            f"-Q {scheme.heading.split()[0]} designs from data: expected {expected}, "
            f"found the number {source}"
        )
    if len(source) < 8:
        k = int(source)
    else:
        k = 10**7
    if k > 100_000:
        raise UsageError(f"{source} classes are more than the 100000 that are supported")
    return make_design(scheme.name, range(k), {}, **request.settings)
