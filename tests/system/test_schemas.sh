#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The JSON documents that the programs write follow tools/schemas, which describe every key. Arguments: the build
# folder, and one case to run (default: all).
# shellcheck disable=SC2317 # cases are called by their names

# shellcheck source=start.sh
. "$(dirname "$0")/start.sh"
# shellcheck source=cases.sh
. "$here/cases.sh"
bin=$build/bin
PATH=$bin:$PATH

# Debian installs modules for /usr/bin/python3, which need not be the first in PATH.
for python in /usr/bin/python3 python3 ''; do
    [ -n "$python" ] || skip "python3-jsonschema: not installed"
    ! "$python" -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null || break
done
cd "$scratch"

# follow SCHEMA DOCUMENT...
follow() {
    local schema=$1
    shift
    "$python" "$here/check_schema" "$source/tools/schemas/$schema.schema.json" "$@" ||
        fail "these documents do not follow $schema.schema.json"
}

# build_has PROGRAM...: fails, after skipping the caller's part, if a program was not built.
build_has() {
    local program
    for program; do
        [ -x "$bin/$program" ] || { skip_part "left-out: built without $program"; return 1; }
    done
}

# try COMMAND...: runs a command, which may fail, but not with 125, the status of errors of our programs.
try() {
    local status=0
    timeout "$patience" "$@" >out 2>err || status=$?
    [ "$status" -lt 124 ] || fail "$* ended with status $status: $(cat err)"
}

runs_match_their_schemas() {
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
interrupted_runs_match_their_schemas() {
    showstopper -n 1 -f own -l 50% --record record --json summary.json sleep 1000 2>err &
    local pid=$!
    await grep -qs counting record/events.jsonl
    kill -TERM "$pid"
    wait "$pid" || true
    follow summary summary.json
    follow event record/events.jsonl
    grep -q '"ended_by": "signal"' summary.json || fail "$(cat summary.json)"
}

simulated_runs_match_their_schemas() {
    try sssim -P 2 -l 50% --duration 3s --foreground serial --iteration 100m --record study
    follow plan study/runs/*/*/plan.json
    follow summary study/runs/*/*/summary.json
    follow event study/runs/*/*/events.jsonl
    grep -q '"simulated": true' study/runs/*/background/plan.json || fail "$(find study)"
    try sssim queue --rate 50 --duration 2s --json
    mv out queue.json
    follow requests queue.json
}

requests_match_their_schemas() {
    build_has ssrequest || return 0
    ssburn serve --help >help 2>&1 || { skip_part "left-out: built without ssburn serve"; return; }
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

studies_match_their_schemas() {
    build_has ssbatch || return 0
    printf '%s\n' 'run good takes 1s size=3' 'before -- true' 'main -- true' 'run bad takes 1s size=4' 'main -- false' \
        'run absent takes 1s size=5' 'main -- /nowhere/program' >plan
    try ssbatch --go-on study plan
    follow run study/*/run.json
    grep -q '"done"' study/good/run.json || fail "$(cat study/good/run.json)"
    grep -q '"failed"' study/bad/run.json || fail "$(cat study/bad/run.json)"
}

# unfold TREE: creates the files of a machine from a file with a line for each: its path, a tab, and its content.
unfold() {
    "$python" - "$1" <<'END'
import os, sys
for line in open(sys.argv[1], encoding="utf-8"):
    path, tab, content = line.rstrip("\n").partition("\t")
    if line.startswith("#") or not tab:
        continue
    path = os.path.join("tree", path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.isdir(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(content.replace("\\n", "\n").replace("\\t", "\t"))
END
}

machines_match_their_schemas() {
    build_has showstopper-platform || return 0
    local tree
    try showstopper-platform -o here.json
    for tree in "$source"/tests/data/platform/*.tree; do
        rm -rf tree
        unfold "$tree"
        try showstopper-platform --root tree -o "$(basename "$tree").json"
    done
    [ "$(find . -name '*.tree.json' | wc -l)" -gt 3 ] || fail "$(ls)"
    follow platform ./*.json
}

# refuse SCHEMA CHANGE: fails unless the document out.json is refused after this change.
refuse() {
    "$python" -c 'import json, sys
document = json.load(open("out.json"))
exec(sys.argv[1])
json.dump(document, open("changed.json", "w"))' "$2"
    ! "$python" "$here/check_schema" "$source/tools/schemas/$1.schema.json" changed.json >refusal ||
        fail "$1: accepted with $2"
}

documents_with_wrong_keys_or_types_are_refused() {
    showstopper -n 1 -f own -l 50% --duration 600m --record record sleep 1000 2>err
    cp record/summary.json out.json
    refuse summary 'document["novel"] = 1'
    refuse summary 'del document["load_mean"]'
    refuse summary 'document["load_mean"] = "0.5"'
    refuse summary 'document["modules"]["trace"]["novel"] = 1'
    refuse summary 'document["verdict"]["result"] = "good"'
    refuse summary 'document["schema"] = 1'
    head -n 1 record/events.jsonl >out.json
    refuse event 'document["event"] = "novel"'
    refuse event 'del document["time"]'
    cp record/plan.json out.json
    refuse plan 'document["inputs"] = [{"path": "x"}]'
    sssim queue --rate 50 --duration 1s --json >out.json
    refuse requests 'del document["throughput"]'
    refuse requests 'document["response"]["all"]["intended"]["p42_seconds"] = 1'
    refuse requests 'document["causes"]["bad_luck"] = 1'
    refuse requests 'del document["machine"]'
}

run_case runs_match_their_schemas
run_case interrupted_runs_match_their_schemas
run_case simulated_runs_match_their_schemas
run_case requests_match_their_schemas
run_case studies_match_their_schemas
run_case machines_match_their_schemas
run_case documents_with_wrong_keys_or_types_are_refused
end_cases
