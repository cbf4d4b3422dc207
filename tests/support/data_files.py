"""Files of points and labels, as the readers of `agfmc.data` take them."""

import numpy as np

from agfmc.data.libagf import cls_bytes, write_table
from agfmc.data.libsvm import check_points, svm_lines
from agfmc.data.lvq import lvq_lines
from agfmc.files.atomic import replacing


def write_vec(path, x):
    """Write x (n, d) as float32."""
    with replacing(path, binary=True) as file:
        write_table(file, np.asarray(x))


def write_cls(path, y):
    """Write labels y (n,) as int32."""
    with replacing(path, binary=True) as file:
        file.write(cls_bytes(y, path))


def write_svm(path, x, y, names=None):
    """Write x (n, d), y (n,) as LIBSVM text; `names` (entry i for label i) replace labels."""
    check_points(x, y, names, path)
    with replacing(path) as file:
        file.writelines(svm_lines(x, y, names))


def write_lvq(path, x, y=None, header=True, names=None):
    """Write x (n, d) and, unless None, y (n,) as LVQ text."""
    check_points(x, y, names, path)
    with replacing(path) as file:
        file.writelines(lvq_lines(x, y, header, names))
