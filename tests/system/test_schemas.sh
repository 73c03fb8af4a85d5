#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The JSON documents that the programs write follow tools/schemas, which describe every key.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
PATH=$bin:$PATH
need_python 'jsonschema; jsonschema.Draft202012Validator' python3-jsonschema

# follow SCHEMA DOCUMENT...
follow() {
    local schema=$1
    shift
    "$python" "$here/check_schema" "$source/tools/schemas/$schema.schema.json" "$@" ||
        fail "these documents do not follow $schema.schema.json"
}

# try COMMAND...: runs a command, which may fail, but not with 125, the status of errors of our programs.
try() {
    local status=0
    timeout "$patience" "$@" >out 2>err || status=$?
    [ "$status" -lt 124 ] || fail "$* ended with status $status: $(cat err)"
}

runs_match_their_schemas() { # case
    local status=0
    printf '0s 20%%\n5s 40%%\n' >trace.txt
    # The third instance continues for half a second after the ends of the others, so that the run has samples.
    # shellcheck disable=SC2016 # for sh
    printf '%s\n' 'until [ "$(cat ended | wc -l)" -eq 2 ]; do sleep 0.05; done' \
        'for i in 0 1 2 3 4 5 6 7 8 9; do echo took 1 ms; sleep 0.05; done' >third
    cat >workloads <<'END'
1 sh -c 'echo >>ended; exit 3'
1 sh -c 'echo >>ended; kill -SEGV $$'
1 sh third
END
    try showstopper -f own -l 50% -n 1 --warmup 100m --duration 700m --record counted --json counted.json --label a=b \
        --iteration '^took ([0-9.]+)' -- sh -c 'while :; do echo took 1 ms; sleep 0.05; done'
    try showstopper -n 2 -t file -T trace.txt --duration 600m --json trace.json --record trace sleep 1000
    # The status is that of the first instance that failed: 3, or 139 for SIGSEGV.
    timeout "$patience" showstopper -f own -l 50% -w workloads --duration 100s --iteration '^took' --json several.json \
        --record several >out 2>err || status=$?
    [ "$status" -eq 3 ] || [ "$status" -eq 139 ] || fail "status $status: $(cat err)"
    try showstopper -n 1 -f own -l 50% --repeat --duration 10s --fail-fast --json failed.json -- sh -c 'exit 4'
    try showstopper -n 1 -f command -F "sh -c 'while :; do echo 0.5; sleep 0.1; done'" -l 50% --duration 600m --json sensor.json --record sensor sleep 1000
    cmp counted.json counted/summary.json || fail "--json and summary.json differ"
    follow summary ./*.json ./*/summary.json
    follow plan ./*/plan.json
    follow event ./*/events.jsonl
    grep -q '"scope": "sensor"' sensor.json || fail "the sensor is missing: $(cat sensor.json)"
    grep -q '"signal": "' several.json || fail "no instance was ended by a signal: $(cat several.json)"
}

# A run that a signal ends writes a summary, too.
interrupted_runs_match_their_schemas() { # case
    showstopper -n 1 -f own -l 50% --record record --json summary.json sleep 1000 2>err &
    local pid=$!
    await grep -qs counting record/events.jsonl
    kill -TERM "$pid"
    wait "$pid" || true
    follow summary summary.json
    follow event record/events.jsonl
    grep -q '"ended_by": "signal"' summary.json || fail "$(cat summary.json)"
}

simulated_runs_match_their_schemas() { # case
    try sssim -P 2 -l 50% --duration 3s --foreground serial --iteration 100m --record study
    follow plan study/runs/*/*/plan.json
    follow summary study/runs/*/*/summary.json
    follow event study/runs/*/*/events.jsonl
    grep -q '"simulated": true' study/runs/*/background/plan.json || fail "$(find study)"
    try sssim queue --rate 50 --duration 2s --json
    mv out queue.json
    follow requests queue.json
}

requests_match_their_schemas() { # case
    need_built ssrequest serve
    local pid url
    mkfifo ready
    (exec ssburn serve --work 1m >ready) &
    pid=$!
    exec 7<ready
    until [[ ${url-} == http* ]]; do
        read -r -t "$patience" _ _ url <&7 || fail "ssburn serve does not listen"
    done
    printf 'GET /a\nGET /b\n' >requests
    try ssrequest --rate 20 --duration 500m --record record --json open.json -H 'X-A: b' "$url"
    try ssrequest --closed 2 --duration 300m --json closed.json --data abc "$url"
    try ssrequest --profile step --max 20 --step 10 --hold 200m --json steps.json --requests-file requests "$url"
    try ssrequest --capacity mean=10s --rate 5 --duration 200m --cap 4 --json capacity.json "$url"
    kill "$pid"
    wait "$pid" || true
    exec 7<&-
    try ssrequest --rate 20 --duration 300m --json refused.json "$url"
    follow requests record/requests.json ./*.json
    grep -q '"connection_refused": [1-9]' refused.json || fail "nothing was refused: $(cat refused.json)"
}

studies_match_their_schemas() { # case
    need_built ssbatch
    printf '%s\n' 'run good takes 1s size=3' 'before -- true' 'main -- true' 'run bad takes 1s size=4' 'main -- false' \
        'run absent takes 1s size=5' 'main -- /nowhere/program' >plan
    try ssbatch --go-on study plan
    follow run study/*/run.json
    grep -q '"done"' study/good/run.json || fail "$(cat study/good/run.json)"
    grep -q '"failed"' study/bad/run.json || fail "$(cat study/bad/run.json)"
}

machines_match_their_schemas() { # case
    need_built showstopper-platform
    local tree
    try showstopper-platform -o here.json
    for tree in "$source"/tests/data/platform/*.tree; do
        rm -rf tree
        unpack_tree "$tree" tree
        try showstopper-platform --root tree -o "$(basename "$tree").json"
    done
    [ "$(find . -name '*.tree.json' | wc -l)" -gt 3 ] || fail "$(ls)"
    follow platform ./*.json
}

# refuse SCHEMA DOCUMENT: fails unless the document is refused after each change, a line of standard input.
refuse() {
    "$python" "$here/check_schema" --refuse "$source/tools/schemas/$1.schema.json" "$2" || fail "$1: a document is accepted"
}

documents_with_wrong_keys_or_types_are_refused() { # case
    showstopper -n 1 -f own -l 50% --duration 600m --record record sleep 1000 2>err
    refuse summary record/summary.json <<'END'
del document["load_mean"]
document["load_mean"] = "0.5"
document["modules"]["trace"]["novel"] = 1
document["verdict"]["result"] = "good"
END
    refuse event record/events.jsonl <<'END'
document["event"] = "novel"
del document["time"]
END
    refuse plan record/plan.json <<<'document["inputs"] = [{"path": "x"}]'
    sssim queue --rate 50 --duration 1s --json >out.json
    refuse requests out.json <<'END'
del document["throughput"]
document["response"]["all"]["intended"]["p42_seconds"] = 1
document["causes"]["bad_luck"] = 1
del document["machine"]
END
}

run_cases
