#!/bin/sh
# All configurations of Mills, "Solving for multi-class: a survey and synthesis", compared on
# the sample data: each is written, trained, merged, used and scored by the suite's own commands.
#
#   sh sample_data/compare.sh            both sample data sets
#   sh sample_data/compare.sh FOLDER     the same, and keep all files in FOLDER
set -eu

here=$(cd "$(dirname "$0")" && pwd)
for command in svm2agf agf_preprocess print_control multi_borders mbh2mbm classify_m eval_uc; do
    command -v "$command" >/dev/null || {
        echo "compare.sh: '$command' is not on the PATH: install agfmc first" >&2
        exit 1
    }
done

if [ $# -gt 0 ]; then
    mkdir -p "$1"
    work=$(cd "$1" && pwd)
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
fi

# score NAME DECODER MODEL OPTIONS...: one line of the table; classes is set
score() {
    name=$1 decoder=$2 model=$3
    shift 3
    classify_m --quiet --header "$@" "$model" test.vec answer >answer.txt
    # a tree that is descended gives the winner's probability alone
    if [ -s answer.txt ]; then probabilities=answer.txt; else probabilities=; fi
    printf '%-12s %-18s %9s %9s %9s %9s\n' "$name" "$decoder" \
        $(eval_uc --report=-.csv -k "$classes" test.cls answer $probabilities | awk -F, '
            BEGIN { n = split("accuracy log_loss brier expected_calibration_error", names, " ") }
            $2 == "" { value[$1] = $3 }
            END { for (i = 1; i <= n; i++)
                      printf value[names[i]] == "" ? "- " : "%.4f ", value[names[i]] }')
}

# compare TITLE OPTIONS: the data are raw.vec and raw.cls in the current folder
compare() {
    agf_preprocess --quiet --stratified -f 0.3 -n --seed 1 raw train test
    classes=$(print_control -Q adjacent train | grep -c /)
    classes=$((classes + 1))
    echo "$1: $classes classes, 30 % of each for testing, training options $2"
    printf '%-12s %-18s %9s %9s %9s %9s\n' configuration decoder \
        accuracy 'log loss' Brier cal.error
    for scheme in one-vs-one one-vs-rest orthogonal adjacent tree empirical; do
        print_control -Q "$scheme" train |
            multi_borders --quiet -j 0 -+ "$2" train "$scheme" "$scheme.mbc"
        mbh2mbm --quiet "$scheme.mbc" "$scheme.mbm"
        case $scheme in
            one-vs-one) score "$scheme" inverse "$scheme.mbm" -Q inverse ;;
            orthogonal) score "$scheme" orthogonal "$scheme.mbm" -Q orthogonal ;;
            one-vs-rest | adjacent) score "$scheme" least-squares "$scheme.mbm" ;;
            *)
                score "$scheme" recursive "$scheme.mbm"
                print_control -Q convert "$scheme.mbc" >"$scheme-code.mbc"
                score "$scheme" least-squares "$scheme-code.mbc" ;;
        esac
    done
    echo
}

mkdir -p "$work/digits" "$work/ordered"
cd "$work/digits"
svm2agf "$here/digits.svm" raw
compare 'Handwritten digits' '-c 50 -g 0.01'
cd "$work/ordered"
cp "$here/ordered.vec" raw.vec
cp "$here/ordered.cls" raw.cls
compare 'Ordered classes' '-c 10 -g 0.005'
