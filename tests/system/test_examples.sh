#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every command that a page shows, as written. examples.sh describes the files of notes that control this.
# shellcheck disable=SC2016 # blocks are literal

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=../sources.sh
. "$here/../sources.sh"
# shellcheck source=examples.sh
. "$here/examples.sh"
export source

! grep -q '^SHOWSTOPPER_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" ||
    skip "sanitizer: examples expect the speed of a normal build"
prefix=$build/examples

# install_all: installs everything. All cases use one installation, which the first one makes.
install_all() {
    local lock
    need cmake
    exec {lock}>"$prefix.lock"
    flock "$lock"
    if [ ! -e "$prefix/made" ] || [ -n "$(find "$build"/{bin,lib,libexec} "$source"/{include,src,tools} -name __pycache__ \
        -prune -o -type f -newer "$prefix/made" -print -quit)" ]; then
        rm -rf "$prefix"
        "$here/install" "$build" "$prefix" >"$scratch/installed" 2>&1 ||
            fail "install: $(tail -n 5 "$scratch/installed")"
        touch "$prefix/made"
    fi
    exec {lock}>&-
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name showstopper.pc)")
    PATH=$prefix/bin:$PATH
    export PATH PKG_CONFIG_PATH
}

# find_port: sets `port` to an unused one below the range from which the kernel assigns ports to clients.
find_port() {
    port=$((20000 + $$ % 10000))
    while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        port=$((port + 1))
    done
    export port
}

# page FILE: runs the blocks of this page.
page() {
    install_all
    find_port
    run_page "$1"
}

readme_examples_run() { page README.md; } # case
contributing_examples_run() { page CONTRIBUTING.md; } # case
architecture_examples_run() { page ARCHITECTURE.md; } # case
modules_examples_run() { page modules/README.md; } # case
changelog_examples_run() { page CHANGELOG.md; } # case
security_examples_run() { page SECURITY.md; } # case
experiments_examples_run() { page tools/experiments/README.md; } # case
environments_examples_run() { page tools/experiments/env/README.md; } # case
tutorials_examples_run() { page tutorials/README.md; } # case
tutorial_hold_a_load_runs() { page tutorials/hold-a-load.md; } # case
tutorial_replay_a_day_runs() { page tutorials/replay-a-day.md; } # case
tutorial_limit_a_runaway_runs() { page tutorials/limit-a-runaway.md; } # case
tutorial_load_is_not_capacity_runs() { page tutorials/load-is-not-capacity.md; } # case
tutorial_is_my_ab_real_runs() { page tutorials/is-my-ab-real.md; } # case
tutorial_percentile_at_a_load_runs() { page tutorials/p99-at-60-percent.md; } # case
tutorial_who_shares_badly_runs() { page tutorials/who-shares-badly.md; } # case
tutorial_another_machine_runs() { page tutorials/another-machine.md; } # case
tutorial_a_study_of_your_own_runs() { page tutorials/a-study-of-your-own.md; } # case
tutorial_look_at_a_record_runs() { page tutorials/look-at-a-record.md; } # case
showstopper_examples_run() { page src/showstopper.1; } # case
showstopper_limits_examples_run() { page src/showstopper-limits.7; } # case
showstopper_method_examples_run() { page src/showstopper-method.7; } # case
showstopper_published_examples_run() { page src/showstopper-published.7; } # case
showstopper_record_examples_run() { page src/showstopper-record.5; } # case
showstopper_catalogue_examples_run() { page tools/ssbatch/showstopper-catalogue.5; } # case
showstopper_plan_examples_run() { page tools/ssbatch/showstopper-plan.5; } # case
showstopper_trace_examples_run() { page tools/sstrace/showstopper-trace.5; } # case
showstopper_requests_examples_run() { page tools/ssrequest/showstopper-requests.7; } # case
showstopper_portability_examples_run() { page tools/ssprofile/showstopper-portability.7; } # case
showstopper_platform_examples_run() { page tools/ssplatform/showstopper-platform.1; } # case
ssactuate_examples_run() { page tools/ssactuate/ssactuate.1; } # case
ssantagonist_examples_run() { page tools/ssantagonist/ssantagonist.1; } # case
ssbatch_examples_run() { page tools/ssbatch/ssbatch.1; } # case
ssfleet_examples_run() { page tools/ssfleet/ssfleet.1; } # case
showstopper_fleets_examples_run() { page tools/ssfleet/showstopper-fleets.7; } # case
ssburn_examples_run() { page tools/ssburn/ssburn.1; } # case
sslab_examples_run() { page tools/python/sslab.1; } # case
ssload_examples_run() { page tools/ssload/ssload.1; } # case
ssprofile_examples_run() { page tools/ssprofile/ssprofile.1; } # case
showstopper_statistics_examples_run() { page tools/python/showstopper-statistics.7; } # case
ssreport_examples_run() { page tools/python/ssreport.1; } # case
ssrequest_examples_run() { page tools/ssrequest/ssrequest.1; } # case
sssim_examples_run() { page tools/sssim/sssim.1; } # case
sstrace_examples_run() { page tools/sstrace/sstrace.1; } # case

all_pages() {
    list_sources "$source" | grep -E '\.([1-9]|md)$' | grep -vE '(^|/)(build|\.)|^tests/'
}

every_page_has_a_case() { # case
    all_pages >"$scratch/pages"
    sed -n 's/^[a-z0-9_]*() { page \(.*\); } # case$/\1/p' "$test_script" | sort | diff "$scratch/pages" - >&2 ||
        fail "the pages and documents of the tree (<) are not those with a case (>)"
}

every_file_of_notes_has_a_page() { # case
    local page
    while read -r page; do
        notes_of "$page"
    done < <(all_pages) | sort >"$scratch/allowed"
    list_sources "$source" | grep '\.examples$' | comm -13 "$scratch/allowed" - >"$scratch/lost"
    [ ! -s "$scratch/lost" ] || fail "files of notes without a page: $(<"$scratch/lost")"
}

# Lists the blocks that are not run because they need foreign software, and the commands that are only planned, by --plan
# or --dry-run, because they take longer than a minute, need what not every machine has, or run in another test.
blocks_that_are_not_run_are_listed() { # case
    local page block where blocks replaced
    for page in $(all_pages); do
        blocks=$(mktemp -d "$scratch/blocks.XXXXXX")
        read_blocks "$source/$page" "$blocks" || fail "$page cannot be read"
        for ((block = 1; ; block++)); do
            [ -e "$blocks/$block" ] || break
            where=$page:$(<"$blocks/$block.line")
            check_notes
            ! has_note foreign || skip_part "foreign: $where: $(note foreign)"
            while read -r replaced; do
                skip_part "only-planned: $where: $replaced"
            done < <(planned_only)
        done
    done
}

failing_blocks_fail_their_page() { # case
    local first second message
    prefix=/none
    mkdir "$scratch/tree"
    while IFS='|' read -r first second message <&3; do
        printf '```\n%s\n```\n' "$first" "$second" >"$scratch/tree/page.md"
        printf 'block two\n    output\n' >"$scratch/tree/page.examples"
        [ "$second" = two ] || : >"$scratch/tree/page.examples"
        ! (source=$scratch/tree run_page page.md) >"$scratch/refused" 2>&1 || fail "not refused: $first"
        says "$scratch/refused" "$message"
    done 3<<'END'
echo; false; true|true|page.md:1: status 1
true|sleep 30 &|still running
if no-such-program; then true; fi|true|unexpected on standard error
echo one|two|the block before prints: one
END
}

run_cases
