"""The table of kernels, which parsers read, too."""

from typing import NamedTuple


class KernelKind(NamedTuple):
    """A kind of kernel.

    Attributes
    ----------
    number : number of the option -t, that of LIBSVM where it has the kernel
    libagf : word in libAGF's models, None where libAGF does not have the kernel
    parameters : fields of a `Kernel` that are used, in the order of libAGF
    distance : distance of points in the words of `scipy.spatial.distance.cdist`, where the kernel
        is exp(-gamma distance)
    of_products : "room.module:function" of this package that makes kernel values, in place, of
        products (s, n) of points, times gamma if it is a parameter, and the `Kernel`
    is_definite : whether it is positive definite for all parameters, as searches and landmarks need
    """

    number: int
    libagf: str | None
    parameters: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    distance: str | None = None
    of_products: str = ""
    is_definite: bool = True

    @property
    def in_libsvm(self) -> bool:
        """True if LIBSVM has the kernel."""
        return self.libagf is not None


KERNELS = {  # in the order of their numbers
    "linear": KernelKind(0, "linear", ()),
    "polynomial": KernelKind(
        1,
        "polynomial",
        ("gamma", "coef0", "degree"),
        ("poly",),
        of_products="kernels.values:polynomial",
    ),
    "rbf": KernelKind(2, "radial", ("gamma",), distance="sqeuclidean"),
    "sigmoid": KernelKind(
        3, "sigmoid", ("gamma", "coef0"), of_products="kernels.values:sigmoid", is_definite=False
    ),
    "laplacian": KernelKind(5, None, ("gamma",), distance="cityblock"),
    "exponential": KernelKind(6, None, ("gamma",), distance="euclidean"),
}
KERNEL_NAMES = {
    word: name
    for name, kind in KERNELS.items()
    for word in (name, kind.libagf, *kind.aliases)
    if word
}
TUNED_KERNELS = tuple(name for name, kind in KERNELS.items() if kind.is_definite)
SEARCHED_KERNELS = ("rbf", "laplacian")  # where the options name none


def kernel_word(name: str) -> str:
    """The value of the option -t for a kernel: the number that LIBSVM has for it, or its name."""
    if KERNELS[name].in_libsvm:
        return str(KERNELS[name].number)
    return name
