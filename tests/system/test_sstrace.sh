#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests where sstrace writes its output, and its exit status. test_sstrace_cases.sh tests what it makes of its input.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
set +o pipefail # readers may close their pipe early
sstrace=$bin/sstrace
traces=$source/traces
import=$source/tests/data/import

# prints TEXT ARGUMENT...: fails unless sstrace prints this text and no error.
prints() {
    expect 0 "$sstrace" "${@:2}"
    is out "$1"
    is err ''
}

for trace in "$traces"/*.txt; do
    prints '' --check "$trace"
    head -n 1 "$trace" | grep -q '^# ' || fail "$trace has no comment that states its purpose"
done
prints 'length   2 min
records  7
mean     0.5
minimum  0.1
maximum  0.9' --stat "$traces/saw.txt"

# The published saw trace, as pasted: with CRLF line ends and no newline at the end.
printf '0 1/10\r\n20s 6/10\r\n40s 1/10\r\n1M 9/10\r\n80s 4/10\r\n100s 9/10\r\n2M 1/10' >pasted
expect 0 "$sstrace" --stat pasted
says out 'mean     0.5'
# Free sections count only in the length, not in any other figure. The first load also holds before its record.
printf '0 free\n10s 20%%\n20s 40%%\n40s free\n100s 80%%\n' >free
prints 'length   100 s
records  5
mean     0.366667
minimum  0.2
maximum  0.8' --stat - <free
printf '10s 20%%\n20s 20%%\n20s 80%%\n30s 80%%\n' >late
expect 0 "$sstrace" --stat late
says out 'mean     0.4'
printf '0 free\n' >free
expect 0 "$sstrace" --stat free
says out 'mean     none'
printf '0 10%%\n0 30%%\n' >step
expect 0 "$sstrace" --stat step
says out 'mean     0.3'

printf '0 1/10\n20 6/10\n' >bad
refuses 2 "sstrace: bad:2:1: '20' has no unit" "$sstrace" --check bad
refuses 2 'standard input:2:1: ' "$sstrace" --stat <bad
refuses 2 'no record' "$sstrace" --check </dev/null
refuses 2 'cannot open absent: No such file or directory' "$sstrace" --check absent
refuses 2 'Is a directory' "$sstrace" --check .
refuses 2 "unexpected argument '-x'" "$sstrace" "$traces/saw.txt" --check -- -x

# Converting a trace to compiled form and back gives the same bytes, from a file, a pipe or a compressor.
for trace in "$traces"/*.txt; do
    "$sstrace" "$trace" >once
    "$sstrace" --dump once | "$sstrace" -o again
    cmp once again || fail "compiling $trace twice gives different results"
    "$sstrace" <once >again
    cmp once again || fail "recompiling $trace gives a different result"
done
"$sstrace" <"$traces/saw.txt" >saw.trace
{ echo bad && head -c 3000000 /dev/urandom | base64; } >noise
{ printf '\357\273\277' && cat "$import/bitbrains.csv"; } >mark.csv
for packer in gzip xz zstd; do
    if command -v "$packer" >/dev/null; then
        for file in "$traces/saw.txt" saw.trace; do
            "$packer" -c <"$file" >packed
            "$sstrace" packed | cmp - saw.trace || fail "$packer file differs"
            "$sstrace" <packed | cmp - saw.trace || fail "$packer pipe differs"
        done
        head -c 30 packed >half
        refuses 2 'cannot unpack half: the file is damaged' "$sstrace" half
        # An error at the beginning ends the programs that would unpack the rest.
        "$packer" -1 -c <noise >packed
        refuses 2 'packed:1:1:' timeout "$patience" "$sstrace" --check packed
        # The format is identified after a byte order mark.
        "$packer" -c <mark.csv >packed
        "$sstrace" --dump packed | cmp -s - <("$sstrace" --dump mark.csv) || fail "wrong trace of a packed file with a mark"
    else
        skip_part "$packer: not installed"
    fi
done

# After an error nothing is written, and an existing file is kept.
echo kept >kept
refuses 2 'bad:2:1' "$sstrace" -o kept bad
is kept kept
head -c 100 saw.trace >half
refuses 2 'is not a valid compiled trace: truncated' "$sstrace" --dump half
refuses 2 'cannot write none/file: No such file or directory: create its folder first' \
    "$sstrace" -o none/file "$traces/saw.txt"
expect 0 "$sstrace" -o new "$traces/saw.txt"
cmp new saw.trace || fail "-o wrote a different trace"
[ "$(find . -name 'new*' -o -name 'kept*' | wc -l)" -eq 2 ] || fail "leftover files"
TMPDIR=$scratch/none refuses 2 'a temporary file in ' "$sstrace" --dump --sine 50%

# All readers reject endless lines. A sanitizer reserves more address space than this limit.
most=200000
! grep -q '^SHOWSTOPPER_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" || most=unlimited
limited() {
    (ulimit -v "$most" && exec timeout "$patience" "$sstrace" "$@")
}
head -c 3000000 /dev/zero | tr '\0' 7 >long
for format in '' --from=csv --from=vmstat; do
    refuses 2 '/dev/zero:1:' limited ${format:+"$format"} /dev/zero
    refuses 2 'the line has more than' limited ${format:+"$format"} long
done
{ printf '{"a":"' && cat long; } >long.json
if "$sstrace" --help | grep sadf-json >/dev/null; then
    refuses 2 'a string or white space is longer than' limited --from=sadf-json long.json
fi
for cpu in $(seq 0 1024); do echo "$cpu { 0 50 1 100 }"; done >many.profile
refuses 2 'many.profile:1025:1: too many CPUs' "$sstrace" --from krash many.profile

# Several changes in one call equal the same changes in a pipeline.
"$sstrace" --clip 20s,1M --scale 2 --dump "$traces/saw.txt" >one
"$sstrace" --clip 20s,1M "$traces/saw.txt" | "$sstrace" --scale 2 | "$sstrace" --dump >two
cmp one two || fail "a pipeline gives a different trace than one call"
is one "$(printf '0 0.6\n40s 0.1\n80s 0.9')"

refuses 2 '.svg or .png' "$sstrace" --plot -o saw.txt "$traces/saw.txt"
expect 0 "$sstrace" --help --plot -o saw.svg
[ ! -e saw.svg ] || fail "--help draws"
if is_built reports; then
    prints '' --plot -o saw.svg "$traces/saw.txt"
    says saw.svg '>time in seconds</text>'
    says saw.svg '</svg>'
    expect 0 "$sstrace" --plot -o saw.png "$traces/saw.txt"
    head -c 4 saw.png | grep -q PNG || fail "the picture is not PNG"
    refuses 2 'none/saw.png: No such file or directory' "$sstrace" --plot -o none/saw.png "$traces/saw.txt"
else
    skip_part "left-out: without packages of Python"
fi
mkdir -p lone/bin
cp "$sstrace" lone/bin
refuses 125 'lone/libexec/showstopper/analysis is missing: install showstopper-analysis' \
    lone/bin/sstrace --plot -o lone.svg "$traces/saw.txt"
[ ! -e lone.svg ] || fail "a picture without the package"

# same_as_select FORMAT TABLE SUFFIX [OPTION...]: fails unless --split writes, for each machine, what --select does.
same_as_select() {
    local file name
    prints '' --from "$1" "${@:4}" --split split "$2"
    for file in split/*"$3"; do
        name=${file##*/}
        name=$(printf %b "${name//%/\\x}")
        "$sstrace" --from "$1" "${@:4}" --select "${name%"$3"}" "$2" >one
        cmp -s one "$file" || fail "$2: --split and --select differ for $name"
    done
    ls split >names
    rm -r split
}
for table in azure alibaba-2021 google-2011 google-2019; do
    same_as_select $table "$import/$table.csv" .trace
done
is names "$(printf '22987853.trace\n92469744092.trace')"
same_as_select alibaba-2017 "$import/alibaba-2017.csv" .trace --every 5M
# Without dates, a machine is not changed by the rows of another between or before its own.
printf 'host,load\na,10\nb,20\na,30\nb,40\na,50\nb,60\n' >untimed
{ echo time,host,load && printf '%s:00:00,a,10\n' 01 11 21 && printf '%s:00:00,b,20\n' 01 11 21; } >sorted
{ echo time,host,load && printf '%s,a,10\n%s,b,20\n' {23:00,23:00,23:30,23:30,00:00,00:00,00:30,00:30}:00; } >overnight
same_as_select csv untimed .txt --every 10s --dump
same_as_select csv sorted .txt --dump
same_as_select csv overnight .txt --dump
echo 00:30:00,c,30 >>overnight
refuses 2 'overnight:10:1: the times of another machine have passed midnight' "$sstrace" --from csv --split new1 overnight
# Machines that begin later hold their first load until then. A single sample lasts as long as those of other machines.
expect 0 "$sstrace" --from alibaba-2022 --dump --split nodes/ "$import/alibaba-2022.csv"
says err 'gaps, in which the previous load is held: 1, in 1 of 3 machines'
is nodes/NODE_12.txt "$(printf '1M 0\n2M 0\n2M 1\n3M 1')"
is <(tail -n 1 nodes/NODE_11517.txt) '3M 0.75'
expect 0 "$sstrace" --from alibaba-2022 --dump --clip 1M,2M --split changed "$import/alibaba-2022.csv"
is changed/NODE_12.txt "$(printf '0 0\n1M 0')"
# Later files continue each machine.
expect 0 "$sstrace" --from csv --every 10s --dump --split twice untimed untimed
is <(tail -n 1 twice/b.txt) '1M 0.6'

split() {
    "$sstrace" --from alibaba-2021 --split "$1" "${2:-$import/alibaba-2021.csv}"
}
# --split writes all files or none.
refuses 2 'cannot write nodes: it already exists' split nodes
{ cat "$import/alibaba-2021.csv" && echo broken; } >broken.csv
refuses 2 'broken.csv:6:' split whole broken.csv
{ cat "$import/alibaba-2021.csv" && echo "90000,$(printf 'm%.0s' {1..300}),0.5,0.5"; } >broken.csv
refuses 2 'is too long for a file' split whole broken.csv
awk 'BEGIN { for (time = 0; time <= 60; time += 60) for (i = 0; i < 20000; i++) print time ",m" i ",0.5,0.5" }' >many.csv
start "$sstrace" --from alibaba-2021 --split whole many.csv
until compgen -G 'whole.*' >/dev/null || [ ! -e "/proc/$pid" ]; do sleep 0.01; done
kill "$pid" 2>/dev/null || true
status=0
wait "$pid" 2>/dev/null || status=$?
[ "$status" -eq 143 ] || fail "--split that got a signal: status $status"
! compgen -G 'whole*' || fail "a failed --split left its folder"
refuses 2 '--split is for measurements' "$sstrace" --split whole "$traces/saw.txt"
printf 'time,load\n0,10%%\n1,20%%\n' >one.csv
refuses 2 'no column names the machine' "$sstrace" --from csv --split whole one.csv
refuses 2 '--split has no effect with planetlab' "$sstrace" --from planetlab --split whole one.csv

if have_terminal; then
    status=0
    script -qec "'$sstrace' '$traces/saw.txt'" /dev/null >typed </dev/null || status=$?
    [ "$status" -eq 2 ] || fail "compiled trace on a terminal: status $status"
    says typed 'to a terminal'
fi
