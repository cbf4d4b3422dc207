"""Consistency of a configuration, whatever file it comes from."""

import numpy as np

from ..calibration.file import check_calibration
from ..core.errors import ModelError
from ..core.kernels import KERNELS
from ..core.models import MergedModel
from ..core.points import is_sparse
from ..data.normalisation import spans
from ..tables.recipe_file import _MOST_FEATURES

_FEW_FEATURES = 2**16  # where no number in the file stands for each


def require_one_kernel(configuration, what, way_out):
    """`ModelError` for what the format `what` of other programs cannot hold.

    `way_out`, from an ensemble, is the end of the message.
    """
    tree = configuration.tree
    kernels = configuration.machines.kernels
    if tree.is_ensemble:
        raise ModelError(
            f"{what} holds one configuration, and this is an ensemble of "
            f"{len(tree.roots)}: {way_out}"
        )
    if tree.directs:
        raise ModelError(
            f"{what} can hold support vector machines only, not a classifier of code "
            f"{next(iter(tree.directs.values())).learner_letter}"
        )
    if configuration.normalisation is not None:
        raise ModelError(
            f"{what} cannot store a normalisation: leave it out, and normalise the data instead"
        )
    if len(kernels) != 1:
        raise ModelError(
            f"{what} has one kernel for all binary classifiers, these have "
            f"{len(kernels)} different ones"
        )


def check_configuration(configuration, fail):
    """Check all that later steps take on trust; fail(message) makes the exception."""
    model = configuration.machines
    classifiers = configuration.node_classifiers
    _check_arrays(model, bool(classifiers), fail)
    for kernel in model.kernels:
        check_kernel(kernel, fail)
    if model.forest is not None:
        model.forest.check(fail)
        if (len(model.forest.starts), model.forest.features) != (
            len(model.rho) + 1,
            model.sv.shape[1],
        ):
            raise fail("the trees belong to other classifiers")
    _check_features(configuration, fail)
    points = model.sv.csr.data if is_sparse(model.sv) else model.sv
    if (
        not all(np.isfinite(values).all() for values in (points, model.coef, model.rho))
        or np.isinf([model.a, model.b]).any()
    ):
        raise fail("a number is not finite")
    if np.any(np.isnan(model.a) != np.isnan(model.b)):
        raise fail("half of a classifier's probabilities is missing")
    for classifier in classifiers.values():
        _check_node_classifier(classifier, model.sv.shape[1], fail)
    _check_normalisation(configuration, fail)
    if len(model.sv) and model.group[-1] > len(configuration.tree.labels):
        raise fail("a support vector belongs to a class that does not exist")
    check_recipe(configuration, fail)
    if configuration.calibration is not None:
        check_calibration(configuration.calibration, fail)
        if not configuration.fits(configuration.calibration):
            raise fail("its calibration belongs to other classifiers")


def check_kernel(kernel, fail):
    """Check the kind and the parameters of a kernel."""
    if kernel.kind not in KERNELS:
        raise fail("there is no kernel of this kind")
    if not (
        0 <= kernel.gamma < np.inf
        and np.isfinite(kernel.coef0)
        and 0 <= kernel.degree <= 1000
        and kernel.degree == int(kernel.degree)
    ):
        raise fail("a parameter of the kernel is out of range")


def check_recipe(configuration, fail):
    """Check that the recipe of a configuration, if any, makes points and classes that it knows."""
    recipe = configuration.recipe
    tree = configuration.tree
    if recipe is None:
        return
    made = len(recipe.features)
    needed = configuration.features
    machines = configuration.machines
    if (
        made != needed
        if needed is not None
        else isinstance(machines, MergedModel) and made < machines.sv.shape[1]
    ):
        raise fail(
            f"the recipe makes {made} features, the classifiers need "
            f"{machines.sv.shape[1] if needed is None else needed}"
        )
    if max(tree.labels) >= len(recipe.classes):
        raise fail(
            f"the recipe has {len(recipe.classes)} classes, and there is a class {max(tree.labels)}"
        )


def _check_arrays(model, may_be_empty, fail):
    """Arrays of equal lengths, whose numbers point into each other."""
    m = len(model.rho)
    s = len(model.sv)
    per_model = (model.a, model.b, model.orientation, model.kernel_of, model.provenances)
    if (
        any(len(part) != m for part in per_model)
        or len(model.indptr) != m + 1
        or not (m or may_be_empty)
    ):
        raise fail("the arrays do not have the same number of classifiers")
    if len(model.group) != s or len(model.index) != len(model.coef):
        raise fail("the arrays do not have the same number of support vectors")
    # compared, not subtracted: a difference of lying numbers could overflow
    if (
        model.indptr[0] != 0
        or model.indptr[-1] != len(model.index)
        or np.any(model.indptr[1:] < model.indptr[:-1])
    ):
        raise fail("the classifiers' coefficients are not contiguous")
    for values, limit in ((model.index, s), (model.kernel_of, len(model.kernels))):
        if len(values) and not (values.min() >= 0 and values.max() < limit):
            raise fail("an index is outside its array")
    if (
        not np.isin(model.orientation, (-1, 1)).all()
        or np.any(model.group[1:] < model.group[:-1])
        or (s and model.group[0] < 0)
    ):
        raise fail("an orientation or group is invalid")
    pairs = np.repeat(np.arange(m), np.diff(model.indptr)) * s + model.index
    # they ascend as this suite writes them
    if np.any(pairs[1:] <= pairs[:-1]) and len(np.unique(pairs)) < len(pairs):
        raise fail("a classifier has the same support vector twice")


def _check_features(configuration, fail):
    """Refuse a number of features that is a mere claim: points take memory for each."""
    sv = configuration.machines.sv
    norm = configuration.normalisation
    if norm is None:
        widths = [sv.shape[1]]
    else:
        widths = [sv.shape[1], norm.features]
    known = len(sv) or configuration.node_classifiers or norm is not None
    if (
        max(widths) > (_MOST_FEATURES if known else _FEW_FEATURES)
        or norm is not None
        and not norm.features
    ):
        raise fail("the number of features is invalid")


def _check_normalisation(configuration, fail):
    """Normalisations that fit the support vectors, and kernels that see the columns of one."""
    model = configuration.machines
    norm = configuration.normalisation
    if norm is None:
        parts = ()
    else:
        parts = norm.parts
    columns = spans(norm, model.sv.shape[1])
    if any(one.features != norm.features for one in parts) or columns[-1][1] != model.sv.shape[1]:
        raise fail("the normalisation does not fit the support vectors")
    if not all(one.is_sound for one in parts):
        raise fail("the normalisation has other features than its mean, or is not finite")
    if (
        any(
            kernel.columns not in (columns if len(parts) > 1 else (None,))
            for kernel in model.kernels
        )
        or len(parts) > 1
        and any(node.points is not None for node in configuration.node_classifiers.values())
    ):
        raise fail("a classifier does not have the columns of one normalisation")


def _check_node_classifier(model, features, fail):
    """A multi-class node that has everything its code needs, and nothing else."""
    parts = [part is not None for part in (model.points, model.y, model.weights, model.forest)]
    code = model.code
    if (
        parts != [code == "K", code == "K", code == "L", code == "T"]
        or code != "K"
        and model.w is not None
    ):
        raise fail("a multi-class node is invalid")
    if model.features != features or model.branches < 2:
        raise fail("a multi-class node has the wrong size")
    if model.forest is not None:
        model.forest.check(fail)
        trees = np.diff(model.forest.starts)
        if len(trees) != model.branches or not trees.all():
            raise fail("the trees of a multi-class node are invalid")
        return
    if model.points is not None:
        if (
            len(model.y) != len(model.points)
            or model.k < 1
            or model.w is None
            and model.k > len(model.points)
            or model.y.min() < 0
            or model.y.max() >= model.branches
        ):
            raise fail("the neighbours of a multi-class node are invalid")
        if model.w is not None and not (
            len(model.w) == len(model.points)
            and np.isfinite(model.w).all()
            and np.all(model.w > 0)
            and model.k <= float(model.w.sum(dtype=np.float64)) * (1 + 1e-6)
        ):
            raise fail("the weights of the neighbours of a multi-class node are invalid")
    elif len(model.weights) != model.branches:
        raise fail("the weights of a multi-class node are invalid")
    if not np.isfinite(model.weights if model.points is None else model.points).all():
        raise fail("a number is not finite")
