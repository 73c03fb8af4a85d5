#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of the action for pull requests, .github/actions/duet, with stand-ins for the environment and the API of GitHub.
# In most cases a stand-in for showstopper runs the command once, which prints the number of its iterations.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=experiments.sh
. "$here/experiments.sh"
need_built ssbatch reports
need curl git jq
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x

# step: runs the command of the action's step as the runner does, with the token in its environment.
step() {
    sed -n "s/^ *run: '\(.*\/gate.*\)'\$/\1/p" "$source/.github/actions/duet/action.yml" >"$scratch/step"
    timeout "$patience" env PATH="$bin:$PATH" GITHUB_ACTION_PATH="$source/.github/actions/duet" DUET_TOKEN=secret \
        bash --noprofile --norc -eo pipefail "$scratch/step"
}

# run_benches: lets the stand-in take the number of iterations from the command, with less noise.
run_benches() {
    stand_in
    touch "$scratch/repaired"
    # shellcheck disable=SC2016 # for the stand-in
    sed -i 's/${\*: -1}/$("${@:6}")/; s/% 41 - 20/% 11 - 5/' "$scratch/bin/showstopper"
}

# open_request BASE HEAD: makes the checkout of a pull request, and the environment of a step of its job. A build makes
# ./bench, whose iterations are BASE in the base and HEAD in the head, and fails if it can read the token.
open_request() {
    mkdir checkout temp api
    export GITHUB_EVENT_NAME=pull_request GITHUB_EVENT_PATH=$scratch/event GITHUB_STEP_SUMMARY=$scratch/summary \
        GITHUB_REPOSITORY=owner/project GITHUB_WORKFLOW=Tests GITHUB_JOB=duet GITHUB_RUN_ID=5 GITHUB_SHA \
        GITHUB_SERVER_URL=https://example.org GITHUB_API_URL RUNNER_TEMP=$scratch/temp
    # shellcheck disable=SC2016 # for the build
    export DUET_BUILD='printf "%s\n" "#!/bin/sh" "$(cat source)" >bench; chmod +x bench
        for ((pid = $$; pid > 1; )); do
            if grep -aqs "DUET_TOKEN[=]secret" "/proc/$pid/environ"; then echo "process $pid has the token"; exit 1; fi
            pid=$(sed -n "s/^PPid:[[:blank:]]*//p" "/proc/$pid/status")
        done'
    export DUET_A=./bench DUET_B='' DUET_AT_MOST=300s DUET_FAIL_ABOVE=1% DUET_BESIDE='' DUET_OPTIONS
    printf -v DUET_OPTIONS '%q ' "${options[@]}"
    echo '{"pull_request": {"number": 7}}' >"$GITHUB_EVENT_PATH"

    # Comments of others have no text, or quote the answer.
    jq -n '[range(5) | {id: ., body: null}] + [{id: 5, body: "> <!-- duet"}]' >api/comments.json
    python3 "$here/github_api.py" api 2>/dev/null &
    await test -e api/port
    GITHUB_API_URL=http://127.0.0.1:$(cat api/port)

    cd checkout
    git init --quiet --initial-branch=main
    echo "echo $1" >source
    git add source
    git commit --quiet -m base
    git tag base
    push "$2"
}

# push ITERATIONS: replaces the head by one with this number of iterations, and merges it into the base.
push() {
    git checkout --quiet -B change base
    echo "echo $1 # changed" >source
    git commit --quiet -am head
    git checkout --quiet -B main base
    git merge --quiet --no-ff -m merge change
    GITHUB_SHA=$(git rev-parse HEAD)
}

# gate STATUS TITLE: runs the step of the action, and checks its status and the title of its answer.
gate() {
    local status=0
    rm -f "$GITHUB_STEP_SUMMARY"
    step >"$output" 2>&1 || status=$?
    [ "$status" -eq "$1" ] || fail "status $status instead of $1"
    says "$GITHUB_STEP_SUMMARY" "### $2"
    ! grep -Fq secret "$output" || fail "the token is in the log"
}

# fails TEXT: fails unless the step fails with this error, and writes neither a comment nor a summary.
fails() {
    local status=0
    step >"$output" 2>&1 || status=$?
    [ "$status" -eq 125 ] || fail "status $status instead of 125"
    says "$output" "::error title=duet::$1"
    { has_comments 0 && [ ! -e "$GITHUB_STEP_SUMMARY" ]; } || fail "an answer was written"
}

# own_comments: prints the comments of the action.
own_comments() {
    jq -r '.[6:][].body' ../api/comments.json
}

# has_comments COUNT: succeeds if the action has written this number of comments.
has_comments() {
    [ "$(jq length ../api/comments.json)" -eq $((6 + $1)) ]
}

# The second run has a slower head; its answer replaces the first. Another job has a comment of its own.
a_slower_head_fails_and_replaces_the_comment() { # case
    run_benches
    open_request 1000 1000
    gate 0 "Head is not slower by more than 1 %"
    prints '::notice title=duet::Head is not slower by more than 1 %25: .*; A against A: .*'
    has_comments 1 || fail "expected one comment"
    cmp <(own_comments) <(cat "$GITHUB_STEP_SUMMARY" && echo) || fail "comment and summary differ"
    # shellcheck disable=SC2016 # Markdown
    says "$GITHUB_STEP_SUMMARY" '(A: `env -C base ./bench`, B: `env -C head ./bench`; '
    [ "$(grep -Ecx '\| (head|base: .*) \| -?[0-9.]+ \| -?[0-9.]+ to -?[0-9.]+ \|' "$GITHUB_STEP_SUMMARY")" -eq 2 ] ||
        fail "the table is: $(cat "$GITHUB_STEP_SUMMARY")"
    says "$GITHUB_STEP_SUMMARY" \
        "Base (A) is $(git rev-parse --short base), and head (B) is $(git rev-parse --short change) merged"
    says "$GITHUB_STEP_SUMMARY" '[log](https://example.org/owner/project/actions/runs/5)'

    push 900
    gate 1 "Head is slower by more than 1 %"
    prints '::error title=duet::Head is slower by more than 1 %25: B is [0-9.]+ %25 .* slower than A; A against A: .*'
    has_comments 1 || fail "the second run added a comment"
    cmp <(own_comments) <(cat "$GITHUB_STEP_SUMMARY" && echo) || fail "the comment is not replaced"

    GITHUB_JOB=other gate 1 "Head is slower by more than 1 %"
    has_comments 2 || fail "another job has no comment of its own"
}

# The limit is inside the interval when time is up. If no comment can be written, that is not a failure.
an_undecided_comparison_passes_without_the_right_to_comment() { # case
    run_benches
    open_request 1000 990
    touch "$scratch/api/read-only"
    gate 0 "Not decided in 300s whether head is slower by more than 1 %"
    prints '::warning title=duet::no comment: POST issues/7/comments failed with HTTP status 403\. .*'
    has_comments 0 || fail "a comment was written"
}

# In A against A, B is slower, too.
a_base_that_differs_from_itself_passes() { # case
    run_benches
    open_request 1000 900
    # shellcheck disable=SC2016 # for the stand-in
    sed -i 's/^count=.*/&\n[[ $record != *-aa-*-b\/* ]] || count=$((count * 9 \/ 10))/' "$scratch/bin/showstopper"
    gate 0 "Not decided: this machine was too noisy"
    says "$GITHUB_STEP_SUMMARY" "Doubtful: A against A differs from 0"
    has_comments 1 || fail "no comment"
}

runs_that_are_all_disturbed_pass() { # case
    run_benches
    open_request 1000 900
    sed -i "s/^verdict=.*/verdict='\"verdict\": {\"result\": \"invalid\", \"checks\": [$(:
        ){\"check\": \"others\", \"result\": \"invalid\", \"value\": 0.9, \"limit\": 0.2}]}'/" \
        "$scratch/bin/showstopper"
    gate 0 "Not decided: this machine was too noisy"
    says "$GITHUB_STEP_SUMMARY" "records are invalid"
}

broken_builds_and_invalid_inputs_fail() { # case
    options=(--bin "$bin" --ram "$scratch/ram" --others 100%)
    open_request 1000 'echo; exit 1'
    DUET_BUILD='sh source' fails "the build of head failed with status 1"
    DUET_BUILD='exit 4' fails "the build of base failed with status 4"
    DUET_A=./nothing fails "no answer: sslab duet: some runs failed"
    DUET_A='./bench | cat' fails "no answer: sslab duet: --a: '|' requires a shell"
    DUET_A='' fails "the input 'a' is missing"
    DUET_OPTIONS="'" fails "the input 'options' is not valid"
    DUET_AT_MOST=long fails "no answer: sslab duet: --at-most: "
    GITHUB_EVENT_NAME=push fails "the event is push: use this action on pull_request"
    GITHUB_SHA=$(git rev-parse base) fails "the merge of head and base is not checked out"
}

run_cases
