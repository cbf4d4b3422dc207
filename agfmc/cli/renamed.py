"""Options of the version before, which the parser still knows, and no help, page or completion.

A text that begins with a dash is the option of today: it stands in place of the old one, with the
value of that in place of {}, and a line on standard error names it.  Any other text says what to
use instead of an option that is gone, which is refused.
"""

import shlex

from ..core.errors import UsageError

_CHOICE = (
    "print_control writes one scheme; agf_train chooses a configuration for data, compare_control "
    "compares given ones"
)
_SEARCH = (
    "tune_m searches the options of one configuration, and agf_train those of several; both estimate "
    "the score for new data"
)

_DIALECT = (
    "table2agf with it writes a recipe beside the table, as lakes.recipe for lakes.csv, and every "
    "command reads the table so (or --recipe FILE)"
)

_LETTERS = (
    "svm2agf -E and lvq2agf -H convert such text; table2agf with it writes a recipe beside a table"
)

# ({option: the option of today, or what to use instead}, commands that had it)
_ROWS: tuple[tuple[dict[str, str], str], ...] = (
    (
        {"--weights": "--weight={}"},
        "agf_preprocess agf_train calibrate_m cls_comp_stats compare_control eval_uc mbh2mbm "
        "multi_borders nfold order_classes print_control tune_m",
    ),
    (
        {"--groups": "--group={}"},
        "agf_preprocess agf_train calibrate_m compare_control mbh2mbm multi_borders nfold "
        "order_classes print_control tune_m",
    ),
    (
        {"--weighted-norm": "weights weigh the normalisation whenever there are weights"},
        "agf_preprocess compare_control multi_borders nfold order_classes print_control tune_m",
    ),
    (
        {"--table": "leave it out: the first line tells what is a table"},
        "agf_preprocess agf_train calibrate_m classify_m compare_control eval_uc mbh2mbm "
        "multi_borders nfold order_classes print_control tune_m",
    ),
    (
        dict.fromkeys(("--categorical", "--ordered", "--min-words", "--classes"), _DIALECT),
        "agf_preprocess compare_control multi_borders nfold order_classes print_control tune_m",
    ),
    (
        dict.fromkeys(("--delimiter", "--decimal", "--no-quotes", "--blanks"), _DIALECT),
        "agf_preprocess calibrate_m classify_m compare_control eval_uc mbh2mbm multi_borders nfold "
        "order_classes print_control tune_m",
    ),
    ({"--table": "name the output .csv or .tsv, or -.csv for standard output"}, "agf2ascii"),
    (
        dict.fromkeys(("-E", "--missing", "-H", "--no-header"), _LETTERS),
        "calibrate_m compare_control mbh2mbm order_classes tune_m",
    ),
    (
        {"--no-normalise": "--norm-file=none"},
        "compare_control multi_borders nfold order_classes print_control tune_m",
    ),
    (
        {
            "--multiqc": "the numbers are in the output of --json",
            "--card": "write what is to be known of a model beside its page",
            "--title": "a page is named after its file",
        },
        "agf_train compare_control nfold tune_m",
    ),
    (
        {"--plot": "--report={}"},
        "compare_control eval_uc mbm_info nfold print_control simulate_decoders tune_m",
    ),
    ({"--csv": "--report=-.csv"}, "compare_control eval_uc simulate_decoders"),
    ({"--markdown": "--report=-.md"}, "compare_control"),
    ({"--ensemble": "--combine=always", "--single": "--combine=never"}, "agf_train"),
    ({"--dot": "--report=-.dot"}, "print_control"),
    ({"--no-calibration": "--uncalibrated"}, "multi_borders"),
    ({"--json": "--report={}", "--csv": "--report={}"}, "tune_m"),
    (
        dict.fromkeys(
            ("--learn-metric", "--diagonal", "--components", "--metric-options"),
            "metrics are not learned any more; try -t laplacian, or an average of configurations",
        ),
        "agf_preprocess compare_control multi_borders nfold order_classes print_control tune_m",
    ),
    (dict.fromkeys(("-j", "--jobs"), "the command has one thread"), "agf_preprocess"),
    (
        {"--sums": "the commands of -0 train the classifiers that share landmarks together"},
        "multi_borders",
    ),
    ({"--feature-names": "no weights of features are printed any more"}, "mbm_info"),
    ({"--classes": "--class-count={}"}, "eval_uc float_to_class simulate_decoders"),
    ({"--missing": "--missing-above={}"}, "float_to_class"),
    ({"--top": "--top-accuracy={}"}, "eval_uc"),
    ({"--control": "--print-control"}, "mbm_info"),
    ({"--error": "--error-rate={}"}, "simulate_decoders"),
    ({"--rows": "--sample={}"}, "agf_preprocess"),
    (
        dict.fromkeys(
            "--search-options --splits --balance --rows --pool --from --best --by -f --fraction -d "
            "--parts --trials --sample --platt --kernel-memory -j --jobs --executor --time-limit "
            "--uncalibrated --state --no-state".split(),
            _CHOICE,
        ),
        "print_control",
    ),
    (dict.fromkeys(("--tune", "--search", "--time-limit"), _SEARCH), "compare_control nfold"),
    ({"--by": _SEARCH}, "nfold"),
    (
        {"--kernel-memory": "free memory decides, or AGFMC_KERNEL_MEMORY, MiB, in the environment"},
        "compare_control multi_borders nfold tune_m",
    ),
    ({"--executor": "--jobs={}"}, "classify_m compare_control multi_borders nfold tune_m"),
    ({"--per-partition": "all open rows of a control get the same options"}, "tune_m"),
    (
        {
            f"--{name}": f"-Q {name}={{}}"
            for name in ("metric", "linkage", "draws", "kind", "of", "members", "average")
        },
        "print_control",
    ),
    (
        dict.fromkeys(
            ("--metric", "--linkage", "--rows", "--draws", "--strict", "-G"),
            "it is a parameter of the scheme, as in compare_control DATA "
            '"random rows=20 draws=100 strict=yes" "empirical metric=hausdorff linkage=average"',
        ),
        "compare_control",
    ),
    ({"--decoders": "--decoder={}"}, "compare_control"),
    (
        {
            "--path": "--adjacent=mean-deviation",
            "--metric": "it is the value of --adjacent, as in --adjacent hausdorff",
        },
        "order_classes",
    ),
    (
        {
            f"--{name}": f"--space {word}={{}}"
            for name, word in (
                ("log2c", "C"),
                ("log2g", "gamma"),
                ("log2k", "k"),
                ("log2leaves", "leaves"),
                ("log2r", "ridge"),
                ("log2rate", "rate"),
                ("degrees", "degree"),
                ("coef0", "coef0"),
                ("kernels", "kernel"),
            )
        },
        "tune_m",
    ),
    ({"--loo": "-d loo"}, "compare_control tune_m"),
)
EARLIER: dict[str, dict[str, str]] = {}  # by command
for _options, _commands in _ROWS:
    for _command in _commands.split():
        EARLIER.setdefault(_command, {}).update(_options)


def option_of_today(command, word, words):
    """The words of today, and a note, for an option of an earlier version; None for another word.

    The value is a part of `word`, or is taken from the `words` that follow, a deque.  Raises
    `UsageError` for an option that is gone, or lacks its value.
    """
    name, _, value = word.partition("=")
    if not name.startswith("--"):
        name = word[:2]
        value = word[2:]
    text = EARLIER.get(command, {}).get(name)
    if text is None:
        return None
    if not text.startswith("-"):
        raise UsageError(f"there is no option {name} any more: {text}")
    if "{}" in text and not value:
        if not words:
            raise UsageError(f"option {name}: expected a value after it")
        value = words.popleft()
    return (
        [part.replace("{}", value) for part in shlex.split(text)],
        f"{name} has another name: {text.replace('{}', value)}",
    )
