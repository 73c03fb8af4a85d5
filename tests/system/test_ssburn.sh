#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The output, options and exits of ssburn.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
set +o pipefail # readers may close their pipe early
ssburn=$bin/ssburn

# refused PART WORD...: fails unless ssburn refuses these words with one line that has this part.
refused() {
    refuses 2 "ssburn: $1" "$ssburn" "${@:2}"
}

# expect_lines COUNT: fails unless `out` has a line about the work and COUNT numbered iterations.
expect_lines() {
    local count=$1 numbers
    head -n 1 out | grep -Eqx '# work [0-9]+' || fail "the work is not printed: $(cat out)"
    [ "$(grep -Ecx 'iteration [0-9]+ ([0-9.]+) ms' out || true)" -eq "$count" ] ||
        fail "expected $count iterations: $(cat out)"
    numbers=$(sed -n 's/^iteration \([0-9]*\) .*/\1/p' out)
    [ "$numbers" = "$(seq 1 "$count")" ] || fail "wrong numbers of iterations: $(cat out)"
    [ "$(wc -l <out)" -eq $((count + 1)) ] || fail "unexpected lines: $(cat out)"
}

every_class_prints_iterations() { # case
    local class options
    for class in serial blocking parallel forking; do
        for options in '' '--memory 100K' '--work=1' '--threads 1' '--threads 20'; do
            [[ $class != serial || $options != '--threads 20' ]] || continue
            # shellcheck disable=SC2086
            expect 0 "$ssburn" "$class" --work 200000 --iterations 3 $options
            expect_lines 3
            [ ! -s err ] || fail "$class $options: unexpected message: $(cat err)"
        done
    done
}

printed_work_repeats_an_iteration() { # case
    local work
    expect 0 "$ssburn" --iterations 0 --iteration 10m serial
    expect_lines 0
    work=$(sed -n 's/^# work //p' out)
    [ "$work" -gt 1000 ] || fail "too little work in 10 ms: $work"
    expect 0 "$ssburn" serial --work "$work" --iterations 1
    expect_lines 1
    [ "$(head -n 1 out)" = "# work $work" ] || fail "expected a work of $work, got $(head -n 1 out)"
}

unknown_words_are_refused() { # case
    refused 'no class given: use serial, blocking, parallel, forking, kernel or serve'
    refused "unknown class 'serail': did you mean 'serial'?" serail
    refused "unexpected argument 'blocking': class serial was already given" serial blocking
    refused "unknown option '--thread': did you mean '--threads'?" blocking --thread=3
    refused "unknown option '-x'" serial -x
    refused '--threads: serial ' serial --threads 2
    refused '--threads: ' parallel --threads 0
    refused '--threads requires a value' parallel --threads
    refused '--work cannot be combined with --iteration' serial --work 1 --iteration 10m
    refused '--work: ' serial --work 0
    refused '--work: ' serial --work many
    refused '--iteration: ' serial --iteration 0
    refused '--iteration: ' serial --iteration 5
    refused '--iterations: ' serial --iterations -1
    refused '--memory: ' serial --memory 64
    refused '--memory: ' serial --memory 1Q
    refused '--memory: ' serial --memory 99999999999G
    refused '--help takes no value' --help=yes
}

help_and_version_are_printed() { # case
    expect 0 "$ssburn" --help
    grep -q '^Usage: ssburn CLASS' out || fail "wrong help: $(cat out)"
    expect 0 "$ssburn" --version
    grep -Eqx 'ssburn [0-9]+\.[0-9]+\.[0-9]+' out || fail "wrong version: $(cat out)"
}

# tests/system/test_lost_output.sh has all other programs.
lost_output_ends_the_program() { # case
    local words status
    for words in serial blocking parallel forking; do
        # ssburn inherits an ignored SIGPIPE.
        status=$(
            trap '' PIPE
            "$ssburn" "$words" --work 100000 2>err | head -n 3 >out
            echo "${PIPESTATUS[0]}"
        )
        [ "$status" = 141 ] || fail "$words: closed pipe: status $status"
        [ ! -s err ] || fail "$words: closed pipe: unexpected message: $(cat err)"
    done
    have_full || return 0
    for words in 'blocking --work 100000' 'parallel --work 100000' 'forking --work 100000' 'kernel int64 --time 20m' \
        'serve --work 0'; do
        is_built "${words%% *}" || [[ $words != serve* ]] || continue
        status=0
        # shellcheck disable=SC2086 # several words
        timeout "$patience" "$ssburn" $words >/dev/full 2>err || status=$?
        [ "$status" = 1 ] || fail "$words: full disk: status $status"
        is err 'ssburn: standard output: No space left on device'
    done
}

# The reader gets end of file when all processes that hold the pipe have ended.
children_end_with_their_parent() { # case
    mkfifo pipe
    "$ssburn" forking --threads 4 >pipe 2>err &
    local pid=$!
    exec 3<pipe
    for _ in work iteration; do
        read -r -t "$patience" _ <&3 || fail "forking: printed nothing"
    done
    kill -KILL "$pid"
    wait "$pid" 2>wait.err || true
    timeout "$patience" cat <&3 >out || fail "forking: children outlive their parent"
    exec 3<&-
}

# If threads waited for each other at the end of an iteration, each would sleep once per iteration.
parallel_threads_do_not_wait_for_each_other() { # case
    local pid sleeps
    "$ssburn" parallel --threads 2 --work 2000000 >out 2>err &
    pid=$!
    timeout "$patience" bash -c 'until grep -qs "^iteration 200 " out; do sleep 0.05; done' ||
        fail "parallel: did not complete 200 iterations: $(cat err)"
    sleeps=$(awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }' \
        "/proc/$pid/task"/*/status)
    kill -KILL "$pid"
    wait "$pid" 2>wait.err || true
    [ "$sleeps" -lt 100 ] || fail "parallel: $sleeps sleeps in 200 iterations"
}

# `sleep` is a child of the shell, and then of ssburn, which the shell executes.
inherited_children_are_ignored() { # case
    local status=0
    # shellcheck disable=SC2016
    bash -c 'sleep 0.05 & exec "$0" forking --work 20000000 --iterations 3' "$ssburn" >out 2>err ||
        status=$?
    [ "$status" -eq 0 ] || fail "with an existing child: status $status: $(cat err)"
    expect_lines 3
}

kernels_print_a_rate() { # case
    expect 0 "$ssburn" kernel --list
    [ "$(wc -l <out)" -ge 24 ] || fail "too few kernels: $(cat out)"
    grep -Eqx 'int64 +integer +[^ ].*' out || fail "int64 is not listed: $(cat out)"
    expect 0 "$ssburn" kernel int64 --time 20m
    grep -Eqx '# int64: .*; 0 bytes; .*-O.*' out || fail "the build is not described: $(cat out)"
    grep -Eqx 'rate [0-9.e+]+ per second' out || fail "the rate is missing: $(cat out)"
    refused 'no kernel given: ' kernel
    refused "unknown kernel 'int46': did you mean 'int64'?" kernel int46
    refused "unexpected argument 'gcd': kernel int64 was already given" kernel int64 gcd
    refused '--time: ' kernel int64 --time 0
}

# The shell ends during the measurement, and another process becomes the parent.
a_kernel_outlives_its_parent() { # case
    # shellcheck disable=SC2016 # for sh
    sh -c '"$0" kernel system-call --time 800m >out 2>err & sleep 0.3' "$ssburn"
    timeout "$patience" sh -c 'until grep -q . out err; do sleep 0.05; done' || fail "the kernel did not end"
    [ ! -s err ] || fail "the end of its parent is an error: $(cat err)"
}

# The limit counts the processes of a user; here ssburn is the only one.
a_failed_system_call_is_not_a_wrong_result() { # case
    local status=0
    if [ "$(id -u)" -ne 0 ] || ! have_other_users; then
        skip_part "another-user: only root can become it"
        return
    fi
    mkdir allowed
    cp "$ssburn" allowed
    chmod 755 . allowed allowed/ssburn
    setpriv --reuid 65534 --regid 65534 --clear-groups \
        prlimit --nproc=1 "$scratch/allowed/ssburn" kernel fork --time 20m >out 2>err || status=$?
    [ "$status" -eq 1 ] || fail "a failed fork: status $status: $(cat err)"
    [ "$(cat err)" = 'ssburn: kernel fork: a system call failed: Resource temporarily unavailable' ] ||
        fail "wrong message about a failed fork: $(cat err)"
}

run_cases
