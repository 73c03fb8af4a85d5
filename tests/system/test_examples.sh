#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every command that a page shows, as written. examples.sh describes the notes that control this.
# Arguments: the build folder, and one case to run (default: all).
# shellcheck disable=SC2016,SC2317 # blocks are literal; cases are called by their names
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
# shellcheck source=skip.sh
. "$here/skip.sh"
# shellcheck source=cases.sh
. "$here/cases.sh"
# shellcheck source=../sources.sh
. "$here/../sources.sh"
# shellcheck source=examples.sh
. "$here/examples.sh"
export source

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

build=$(realpath "$1")
! grep -q '^SHOWSTOPPER_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" ||
    skip "sanitizer: examples expect the speed of a normal build"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/prefix

# install_all: installs everything.
install_all() {
    need cmake
    "$here/install" "$build" "$prefix" >"$folder/installed" 2>&1 ||
        fail "install: $(tail -n 5 "$folder/installed")"
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

readme_examples_run() { page README.md; }
contributing_examples_run() { page CONTRIBUTING.md; }
architecture_examples_run() { page ARCHITECTURE.md; }
modules_examples_run() { page modules/README.md; }
changelog_examples_run() { page CHANGELOG.md; }
security_examples_run() { page SECURITY.md; }
experiments_examples_run() { page tools/experiments/README.md; }
environments_examples_run() { page tools/experiments/env/README.md; }
tutorials_examples_run() { page tutorials/README.md; }
tutorial_hold_a_load_runs() { page tutorials/hold-a-load.md; }
tutorial_replay_a_day_runs() { page tutorials/replay-a-day.md; }
tutorial_limit_a_runaway_runs() { page tutorials/limit-a-runaway.md; }
tutorial_load_is_not_capacity_runs() { page tutorials/load-is-not-capacity.md; }
tutorial_is_my_ab_real_runs() { page tutorials/is-my-ab-real.md; }
tutorial_percentile_at_a_load_runs() { page tutorials/p99-at-60-percent.md; }
tutorial_who_shares_badly_runs() { page tutorials/who-shares-badly.md; }
tutorial_another_machine_runs() { page tutorials/another-machine.md; }
tutorial_look_at_a_record_runs() { page tutorials/look-at-a-record.md; }
showstopper_examples_run() { page src/showstopper.1; }
showstopper_limits_examples_run() { page src/showstopper-limits.7; }
showstopper_method_examples_run() { page src/showstopper-method.7; }
showstopper_record_examples_run() { page src/showstopper-record.5; }
showstopper_experiments_examples_run() { page tools/experiments/showstopper-experiments.7; }
showstopper_catalogue_examples_run() { page tools/ssbatch/showstopper-catalogue.5; }
showstopper_plan_examples_run() { page tools/ssbatch/showstopper-plan.5; }
showstopper_trace_examples_run() { page tools/sstrace/showstopper-trace.5; }
showstopper_requests_examples_run() { page tools/ssrequest/showstopper-requests.7; }
showstopper_portability_examples_run() { page tools/ssprofile/showstopper-portability.7; }
showstopper_platform_examples_run() { page tools/ssplatform/showstopper-platform.1; }
ssactuate_examples_run() { page tools/ssactuate/ssactuate.1; }
ssantagonist_examples_run() { page tools/ssantagonist/ssantagonist.1; }
ssbatch_examples_run() { page tools/ssbatch/ssbatch.1; }
ssfleet_examples_run() { page tools/ssfleet/ssfleet.1; }
showstopper_fleets_examples_run() { page tools/ssfleet/showstopper-fleets.7; }
ssburn_examples_run() { page tools/ssburn/ssburn.1; }
ssload_examples_run() { page tools/ssload/ssload.1; }
ssprofile_examples_run() { page tools/ssprofile/ssprofile.1; }
showstopper_statistics_examples_run() { page tools/analysis/showstopper-statistics.7; }
ssreport_examples_run() { page tools/analysis/ssreport.1; }
ssrequest_examples_run() { page tools/ssrequest/ssrequest.1; }
sssim_examples_run() { page tools/sssim/sssim.1; }
sstrace_examples_run() { page tools/sstrace/sstrace.1; }

all_pages() {
    list_sources "$source" | grep -E '\.([1-9]|md)$' | grep -vE '(^|/)(build|\.)|^tests/'
}

every_page_has_a_case() {
    local name
    all_pages >"$folder/pages"
    sed -n 's/^[a-z_]*() { page \(.*\); }$/\1/p' "$0" | sort | diff "$folder/pages" - >&2 ||
        fail "the pages and documents of the tree (<) are not those with a case (>)"
    while read -r name; do
        grep -qx "run_case $name" "$0" || fail "$name is not run"
    done < <(sed -n 's/^\([a-z_]*\)() { page .*/\1/p' "$0")
}

# for_each_block COMMAND: calls it for each block of all pages.
for_each_block() {
    local page block where blocks
    for page in $(all_pages); do
        blocks=$(mktemp -d "$folder/blocks.XXXXXX")
        read_blocks "$source/$page" "$blocks" || fail "$page cannot be read"
        for ((block = 1; ; block++)); do
            [ -e "$blocks/$block" ] || break
            where=$page:$(<"$blocks/$block.line")
            check_notes
            "$1"
        done
    done
}

list_foreign() {
    ! has_note foreign || skip_part "foreign: $where: $(note foreign)"
}

# Lists the blocks that are not run because they need foreign software.
foreign_software_is_listed() { for_each_block list_foreign; }

list_planned() {
    local replaced
    while read -r replaced; do
        skip_part "only-planned: $where: $replaced"
    done < <(planned_only)
}

# Lists the commands that are only planned, by --plan or --dry-run, because they take longer than a minute or need what
# not every machine has.
commands_that_are_only_planned_are_listed() { for_each_block list_planned; }

# refuses MESSAGE: fails unless the page on standard input is refused with this message.
refuses() {
    mkdir -p "$folder/tree"
    cat >"$folder/tree/page.md"
    ! (source=$folder/tree run_page page.md) >"$folder/refused" 2>&1 || fail "not refused: $1"
    grep -qF -- "$1" "$folder/refused" || fail "not '$1': $(<"$folder/refused")"
}

# fenced [NOTE]: encloses the commands on standard input in a block with this note.
fenced() {
    [ $# -eq 0 ] || printf '<!-- example: %s -->\n' "$@"
    printf '```\n%s\n```\n' "$(cat)"
}

pages_with_invalid_notes_are_refused() {
    prefix=/none
    fenced <<<'echo; false; true' | refuses 'page.md:1: status 1'
    fenced <<<'false | cat' | refuses 'page.md:1: status 1'
    fenced <<<'sleep 30 &' | refuses 'still running'
    fenced <<<'no-such-program || true' | refuses 'unexpected on standard error'
    fenced 'skip it' <<<'true' | refuses 'unknown note: skip it'
    fenced 'shows nothing' 'setup true' <<<'true' | refuses 'has one note'
    fenced 'elsewhere none' <<<'true' | refuses 'there is no none'
    fenced 'replace 1M -> 1s' <<<'sleep 2M' | refuses "'1M' is not in the block"
    fenced 'replace 1M' <<<'sleep 1M' | refuses 'lacks an arrow'
    printf '%s\n' '<!-- example: shows nothing -->' text | refuses 'a note without a block'
    printf '%s\n' '```' text | refuses 'does not end'
    { fenced <<<'echo one' && fenced output <<<'two'; } | refuses 'the block before prints: one'
}

planned_commands_are_recognized() {
    local blocks=$folder/planned block=1
    mkdir "$blocks"
    printf '%s\n' 'replace run -> run --plan' 'replace 1M -> 1s' 'replace --plan -> --plan --quick' \
        'replace demo -> --dry-run demo' 'replace a -> a --planned' >"$blocks/1.notes"
    [ "$(planned_only)" = $'run -> run --plan\ndemo -> --dry-run demo' ] || fail "planned: $(planned_only)"
}

blocks_are_run_according_to_their_notes() {
    prefix=/none
    mkdir "$folder/tree"
    {
        fenced 'file data' <<<'content'
        fenced 'replace content -> $wanted' 'setup wanted=content' 'after [ -s made ]' \
            <<<'grep -x content data && echo made >made'
        fenced 'stand-in java echo "java $*"' <<<'[ ! -e made ] && java -jar a.jar'
        fenced output <<<'java -jar a.jar'
        fenced 'interpreter cat' <<<'$no command'
        fenced output <<<'$no command'
        fenced 'needs no-such-program' <<<'no-such-program'
        fenced 'shows a picture' <<<'no command'
    } >"$folder/tree/page.md"
    printf '%s\n' '.\" example: replace 3 -> 1' .EX '\fBexpr\fR 1 \- 3 \e' "    + \\(aq3\\(aq" .EE \
        '.\" example: output' .nf .RS 1 .RE .fi >"$folder/tree/page.1"
    (source=$folder/tree && run_page page.md && [ "$skipped" -eq 77 ] && run_page page.1) \
        >"$folder/out.pages" 2>&1 || fail "$(<"$folder/out.pages")"
    [ "$(grep -c '^page' "$folder/out.pages")" -eq 5 ] || fail "$(<"$folder/out.pages")"
}

run_case readme_examples_run
run_case contributing_examples_run
run_case architecture_examples_run
run_case modules_examples_run
run_case changelog_examples_run
run_case security_examples_run
run_case experiments_examples_run
run_case environments_examples_run
run_case tutorials_examples_run
run_case tutorial_hold_a_load_runs
run_case tutorial_replay_a_day_runs
run_case tutorial_limit_a_runaway_runs
run_case tutorial_load_is_not_capacity_runs
run_case tutorial_is_my_ab_real_runs
run_case tutorial_percentile_at_a_load_runs
run_case tutorial_who_shares_badly_runs
run_case tutorial_another_machine_runs
run_case tutorial_look_at_a_record_runs
run_case showstopper_examples_run
run_case showstopper_limits_examples_run
run_case showstopper_method_examples_run
run_case showstopper_record_examples_run
run_case showstopper_experiments_examples_run
run_case showstopper_catalogue_examples_run
run_case showstopper_plan_examples_run
run_case showstopper_trace_examples_run
run_case showstopper_requests_examples_run
run_case showstopper_portability_examples_run
run_case showstopper_platform_examples_run
run_case ssactuate_examples_run
run_case ssantagonist_examples_run
run_case ssbatch_examples_run
run_case ssfleet_examples_run
run_case showstopper_fleets_examples_run
run_case ssburn_examples_run
run_case ssload_examples_run
run_case ssprofile_examples_run
run_case showstopper_statistics_examples_run
run_case ssreport_examples_run
run_case ssrequest_examples_run
run_case sssim_examples_run
run_case sstrace_examples_run
run_case every_page_has_a_case
run_case foreign_software_is_listed
run_case commands_that_are_only_planned_are_listed
run_case pages_with_invalid_notes_are_refused
run_case planned_commands_are_recognized
run_case blocks_are_run_according_to_their_notes

end_cases
