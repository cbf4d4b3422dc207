#!/bin/sh
# The tables of Mills, "Solving for multi-class: a survey and synthesis", for one of its data sets, made
# by the suite's own commands, beside the figures of the paper (paper.csv).
#
#   sh sample_data/paper.sh segment             segment.svm of this folder or of sample_data
#   sh sample_data/paper.sh segment FILE        LIBSVM text, all rows of the data set, not normalised
#   TRIALS=2 sh sample_data/paper.sh sat        two random splits in place of ten
#
# Data sets: segment, pendigits, sat and letter of the UCI Machine Learning Repository. Any other file has
# a table too, without figures of the paper; OPTIONS are then those of the training.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
fail() {
    echo "paper.sh: $1" >&2
    exit "${2:-1}"
}
[ $# -ge 1 ] && [ $# -le 2 ] || fail 'expected a data set, as in: sh paper.sh segment [FILE]' 2
dataset=$1
features=
case $dataset in
    segment) options='-c 100 -g 0.1' ;;
    pendigits) options='-c 50 -g 0.01' ;;
    sat) options='-c 50 -g 0.1' ;;
    # the experiments of the paper left out the last of the 16 features
    letter) options='-c 50 -h 0' features='0 1 2 3 4 5 6 7 8 9 10 11 12 13 14' ;;
    *) options=${OPTIONS:--c 50} ;;
esac
trials=${TRIALS:-10}
case $trials in '' | *[!0-9]* | 0*) fail "TRIALS: expected a whole number from 1, found '$trials'" 2 ;; esac
file=${2:-$dataset.svm}
[ -f "$file" ] || [ $# -eq 2 ] || file=$here/$dataset.svm
[ -f "$file" ] || fail "there is no file of the data set $dataset: put $dataset.svm, LIBSVM text, into this \
folder or into $here, or name the file: sh paper.sh $dataset FILE"
for command in svm2agf agf_preprocess print_control multi_borders mbh2mbm classify_m eval_uc; do
    command -v "$command" >/dev/null || fail "'$command' is not on the PATH: install agfmc first"
done
file=$(cd "$(dirname "$file")" && pwd)/$(basename "$file")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$work"

# seconds: CPU seconds of the commands so far; `times` in the shell itself, as a child has none
seconds() {
    times >times.txt
    spent=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); sum += 60 * t[1] + t[2] } }
        END { printf "%.2f", sum }' times.txt)
}

# score DECODER MODEL OPTIONS...: the measures of one row of the table; scheme and train_s are set
score() {
    decoder=$1 model=$2
    shift 2
    seconds && before=$spent
    classify_m --quiet --header --uncalibrated "$@" "$model" test.vec answer >answer.txt
    seconds && classify_s=$(echo "$spent $before" | awk '{ printf "%.2f", $1 - $2 }')
    # a tree that is descended gives the winner's probability alone
    if [ -s answer.txt ]; then probabilities=answer.txt; else probabilities=; fi
    printf '%s %s train_s %s\n%s %s classify_s %s\n' \
        "$scheme" "$decoder" "$train_s" "$scheme" "$decoder" "$classify_s"
    eval_uc --csv -k "$classes" test.cls answer $probabilities | awk -F, -v row="$scheme $decoder" '
        $2 == "" && $1 ~ /^(uncertainty_coefficient|brier_all|brier_winning)$/ { print row, $1, $3 }'
}

svm2agf --quiet "$file" raw
if [ -n "$features" ]; then
    agf_preprocess --quiet -F raw raw $features
fi
trial=0
while [ "$trial" -lt "$trials" ]; do
    trial=$((trial + 1))
    agf_preprocess --quiet --stratified -f 0.3 -n --seed "$trial" raw train test
    classes=$(($(print_control -Q adjacent train | grep -c /) + 1))
    for scheme in one-vs-one one-vs-rest orthogonal adjacent tree empirical; do
        print_control -Q "$scheme" train >plan.mbt
        seconds && before=$spent
        multi_borders --quiet --platt cv --uncalibrated --retrain --seed "$trial" -+ "$options" \
            plan.mbt train "m-$scheme" model.mbc
        seconds && train_s=$(echo "$spent $before" | awk '{ printf "%.2f", $1 - $2 }')
        mbh2mbm --quiet model.mbc model.mbm
        case $scheme in
            one-vs-one) score inverse model.mbm -Q inverse ;;
            orthogonal) score orthogonal model.mbm -Q orthogonal ;;
            one-vs-rest | adjacent) score least-squares model.mbm -Q least-squares ;;
            *)
                score recursive model.mbm
                print_control -Q convert model.mbc >code.mbc
                score least-squares code.mbc -Q least-squares ;;
        esac
    done
done >scores.txt

echo "$dataset: $classes classes, $trials splits with 30 % of each class for testing, training options $options"
echo 'mean and standard deviation; in brackets those of the paper, whose seconds are of another machine'
awk -v dataset="$dataset" '
    function cell(mean, deviation, form) {
        return deviation == "" ? sprintf(form, mean) : sprintf(form " " form, mean, deviation)
    }
    BEGIN {
        count = split("train_s classify_s uncertainty_coefficient brier_all brier_winning", measures, " ")
        printf "%-12s %-14s %-28s %-28s %-28s %-28s %s\n", "scheme", "decoder", "training s",
            "classifying s", "uncertainty coefficient", "Brier, all classes", "Brier, winner"
    }
    FNR == NR {
        split($0, part, ",")
        if (part[1] == dataset) paper[part[2] " " part[3], part[4]] = " [" part[5] " " part[6] "]"
        next
    }
    {
        row = $1 " " $2
        if (!(row in seen)) { seen[row] = 1; rows[++n] = row }
        sum[row, $3] += $4; squares[row, $3] += $4 * $4; number[row, $3]++
    }
    END {
        for (i = 1; i <= n; i++) {
            split(rows[i], name, " ")
            line = sprintf("%-12s %-14s", name[1], name[2])
            for (j = 1; j <= count; j++) {
                key = rows[i] SUBSEP measures[j]
                text = "-"
                if (k = number[key]) {
                    mean = sum[key] / k
                    spread = (squares[key] - k * mean * mean) / (k - (k > 1))
                    deviation = k > 1 ? sqrt(spread > 0 ? spread : 0) : ""
                    text = cell(mean, deviation, j < 3 ? "%.2f" : "%.3f")
                }
                line = line sprintf(" %-28s", text paper[rows[i], measures[j]])
            }
            sub(/ +$/, "", line)
            print line
        }
    }' "$here/paper.csv" scores.txt
