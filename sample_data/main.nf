// From a table to pages with scores, for several configurations, with Nextflow:
//
//   nextflow run sample_data/main.nf --outdir results
//
// Other data: --table /path/of/table.csv --label class --columns '--label class --id number'.
// In containers: -with-docker agfmc, the image of the Dockerfile beside this file.

params.table = "${projectDir}/penguins.csv"
params.label = 'species'
params.columns = '--label species --id id --ignore year,comments'
params.schemes = 'one-vs-one,one-vs-rest'
params.outdir = 'results'

// Three of ten rows of each class are kept for the test.
process SPLIT {
    publishDir params.outdir, mode: 'copy'

    input:
    path table
    val label

    output:
    path 'train.csv', emit: train
    path 'test.csv', emit: test
    path 'split.log'

    script:
    """
    agf_preprocess --log json --stratified -f 0.3 --seed 1 --label '${label}' ${table} train.csv test.csv 2> split.log
    """
}

// One file, with the normalisation and the calibration.
process TRAIN {
    tag "${scheme}"
    cpus 2
    publishDir "${params.outdir}/${scheme}", mode: 'copy'

    input:
    val scheme
    path train
    val columns

    output:
    tuple val(scheme), path('model.mbm'), emit: model
    path 'train.log'

    script:
    """
    print_control --log json -Q ${scheme} ${columns} ${train} > control.mbt 2> train.log
    multi_borders --log json -j ${task.cpus} ${columns} control.mbt ${train} model model.mbc 2>> train.log
    mbh2mbm --log json model.mbc model.mbm 2>> train.log
    """
}

process CLASSIFY {
    tag "${scheme}"
    cpus 2
    publishDir "${params.outdir}/${scheme}", mode: 'copy'

    input:
    tuple val(scheme), path(model)
    path test

    output:
    tuple val(scheme), path(model), path('answers.csv'), emit: answers
    path 'classify.log'

    script:
    """
    classify_m --log json -j ${task.cpus} ${model} ${test} answers.csv 2> classify.log
    """
}

process SCORE {
    tag "${scheme}"
    publishDir "${params.outdir}/${scheme}", mode: 'copy'

    input:
    tuple val(scheme), path(model), path(answers)
    path test
    val label

    output:
    path 'scores.json', emit: scores
    path 'score.log'

    script:
    """
    eval_uc --log json --json --truth '${label}' --data ${test} ${answers} > scores.json 2> score.log
    """
}

// A page.
process REPORT {
    tag "${scheme}"
    publishDir "${params.outdir}/${scheme}", mode: 'copy'

    input:
    tuple val(scheme), path(model), path(answers)
    path test
    val label

    output:
    path 'report.html', emit: page
    path 'report.log'

    script:
    """
    eval_uc --log json --truth '${label}' --data ${test} --model ${model} --report report.html ${answers} > /dev/null 2> report.log
    """
}

workflow {
    split = SPLIT(channel.fromPath(params.table, checkIfExists: true), params.label)
    test = split.test.first()
    schemes = channel.fromList(params.schemes.tokenize(','))
    trained = TRAIN(schemes, split.train.first(), params.columns)
    classified = CLASSIFY(trained.model, test)
    SCORE(classified.answers, test, params.label)
    REPORT(classified.answers, test, params.label)
}
