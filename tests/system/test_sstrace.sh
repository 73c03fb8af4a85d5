#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sstrace: its output, where it writes it, and its exit status.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
set +o pipefail # readers may close their pipe early
sstrace=$bin/sstrace
traces=$source/traces
folder=$scratch

# expect STATUS ARGUMENT...: fails unless sstrace exits with this status; it reads standard input and writes to `out`
# and `err` in $folder.
expect() {
    local wanted=$1 status=0
    shift
    "$sstrace" "$@" >"$folder/out" 2>"$folder/err" || status=$?
    [ "$status" -eq "$wanted" ] || fail "sstrace $*: expected status $wanted, got $status"
}

output_is() {
    [ "$(cat "$folder/out")" = "$1" ] || fail "wrong output: $(cat "$folder/out")"
}

# error_has TEXT: fails unless one line was printed, with the program's name and this text.
error_has() {
    [ "$(wc -l <"$folder/err")" -eq 1 ] || fail "expected one message: $(cat "$folder/err")"
    grep -q '^sstrace: ' "$folder/err" || fail "message without the program's name: $(cat "$folder/err")"
    grep -qF -- "$1" "$folder/err" || fail "no '$1' in: $(cat "$folder/err")"
    [ ! -s "$folder/out" ] || fail "unexpected output: $(cat "$folder/out")"
}

no_error() {
    [ ! -s "$folder/err" ] || fail "unexpected error: $(cat "$folder/err")"
}

for trace in "$traces"/*.txt; do
    expect 0 --check "$trace"
    output_is ''
    no_error
    head -n 1 "$trace" | grep -q '^# ' || fail "$trace has no comment that states its purpose"
done

expect 0 --stat <"$traces/saw.txt"
no_error
output_is 'length   2 min
records  7
mean     0.5
minimum  0.1
maximum  0.9'

# The published saw trace, as pasted: with CRLF line ends and no newline at the end.
printf '0 1/10\r\n20s 6/10\r\n40s 1/10\r\n1M 9/10\r\n80s 4/10\r\n100s 9/10\r\n2M 1/10' \
    >"$folder/pasted"
expect 0 --stat "$folder/pasted"
grep -q '^mean     0.5$' "$folder/out" || fail "wrong mean of the pasted saw"

# Free sections count only in the length, not in any other figure.
printf '0 free\n10s 20%%\n20s 40%%\n40s free\n100s 80%%\n' >"$folder/free"
expect 0 --stat - <"$folder/free"
output_is 'length   100 s
records  5
mean     0.366667
minimum  0.2
maximum  0.8'
printf '0 free\n' >"$folder/free"
expect 0 --stat "$folder/free"
grep -q '^mean     none$' "$folder/out" || fail "mean printed for a trace without controlled time"
# The load of the first record also holds before it.
printf '10s 20%%\n20s 20%%\n20s 80%%\n30s 80%%\n' >"$folder/late"
expect 0 --stat "$folder/late"
output_is 'length   30 s
records  4
mean     0.4
minimum  0.2
maximum  0.8'
printf '10s free\n20s 80%%\n30s 80%%\n' >"$folder/late"
expect 0 --stat "$folder/late"
grep -q '^mean     0.8$' "$folder/out" || fail "wrong mean after a free section: $(cat "$folder/out")"
printf '0 10%%\n0 30%%\n' >"$folder/step"
expect 0 --stat "$folder/step"
grep -q '^mean     0.3$' "$folder/out" || fail "wrong mean of a zero-length trace"

printf '0 1/10\n20 6/10\n' >"$folder/bad"
expect 2 --check "$folder/bad"
error_has "$folder/bad:2:1: '20' has no unit: write 20s, 20m (milliseconds) or 20M (minutes)"
! grep -q -e --from "$folder/err" || fail "a trace is taken for a table: $(cat "$folder/err")"
expect 2 --stat <"$folder/bad"
error_has 'standard input:2:1: '
error_has 'in "20 6/10"'

# The first line of a table or a list of loads causes a hint.
printf 'time,cpu\n0,10\n1,20\n' >"$folder/table"
expect 2 "$folder/table"
error_has 'in "time,cpu"; if this is not a trace, name the format: --from csv'
printf '50%%\n60%%\n' >"$folder/table"
expect 2 "$folder/table"
error_has 'in "50%"; if this is not a trace, name the format: --from levels --every TIME'
expect 0 --check --from levels --every 1s "$folder/table"

expect 2 --check </dev/null
error_has 'no record'
expect 2 --check "$folder/absent"
error_has "$folder/absent cannot be opened: No such file or directory: check the path"
expect 2 --check "$folder"
error_has 'Is a directory'

expect 2 --check --stat </dev/null
error_has 'choose one of the two'
expect 2 --chekc </dev/null
error_has "unknown option '--chekc': did you mean '--check'?"
expect 2 -z </dev/null
error_has "unknown option '-z': see --help"
expect 2 -xyz </dev/null
error_has "unknown option '-x'"
expect 2 --check=yes "$traces/saw.txt"
error_has '--check takes no value'
expect 2 --scale
error_has '--scale requires a value: write --scale F'
expect 0 "$traces/saw.txt" --check
no_error
expect 2 "$traces/saw.txt" --check -- -x
error_has "unexpected argument '-x'"
expect 2 --check "$traces/saw.txt" "$traces/steps.txt"
error_has "unexpected argument '$traces/steps.txt'"

expect 0 --help
no_error
grep -q -- '--stat' "$folder/out" || fail "help does not name --stat"
expect 0 --version
no_error
grep -Eq '^sstrace [0-9]+\.[0-9]+\.[0-9]+$' "$folder/out" || fail "version: $(cat "$folder/out")"

if have_full; then
    status=0
    "$sstrace" --stat "$traces/saw.txt" 2>"$folder/err" >/dev/full || status=$?
    [ "$status" -eq 2 ] || fail "full disk: status $status"
    : >"$folder/out"
    error_has 'standard output: No space left on device'
fi

# Converting a trace to compiled form and back gives the same bytes, from a file, a pipe or a compressor.
for trace in "$traces"/*.txt; do
    "$sstrace" "$trace" >"$folder/once"
    "$sstrace" --dump "$folder/once" | "$sstrace" -o "$folder/again"
    cmp "$folder/once" "$folder/again" || fail "compiling $trace twice gives different results"
    "$sstrace" <"$folder/once" >"$folder/again"
    cmp "$folder/once" "$folder/again" || fail "recompiling $trace gives a different result"
done
"$sstrace" <"$traces/saw.txt" >"$folder/saw.trace"
{ echo bad && head -c 3000000 /dev/urandom | base64; } >"$folder/noise"
for packer in gzip xz zstd; do
    if command -v "$packer" >/dev/null; then
        "$packer" -c <"$traces/saw.txt" >"$folder/saw.$packer"
        "$packer" -c <"$folder/saw.trace" >"$folder/saw.trace.$packer"
        "$sstrace" "$folder/saw.$packer" | cmp - "$folder/saw.trace" || fail "$packer file differs"
        "$sstrace" <"$folder/saw.trace.$packer" | cmp - "$folder/saw.trace" || fail "$packer pipe differs"
        head -c 30 "$folder/saw.$packer" >"$folder/cut"
        expect 2 "$folder/cut"
        error_has 'unpacking it failed: the file is damaged'
        # An error at the beginning ends the programs that would unpack the rest.
        "$packer" -1 -c <"$folder/noise" >"$folder/noise.$packer"
        status=0
        timeout "$patience" "$sstrace" --check "$folder/noise.$packer" >"$folder/out" 2>"$folder/err" || status=$?
        [ "$status" -eq 2 ] || fail "an error in a long $packer file: status $status"
        error_has "noise.$packer:1:1:"
    else
        skip_part "$packer: not installed"
    fi
done

# After an error nothing is written, and an existing file is kept.
echo kept >"$folder/kept"
expect 2 -o "$folder/kept" "$folder/bad"
[ "$(cat "$folder/kept")" = kept ] || fail "a bad trace replaced a file"
expect 2 --dump "$folder/bad"
[ ! -s "$folder/out" ] || fail "a bad trace was written"
head -c 100 "$folder/saw.trace" >"$folder/cut"
expect 2 --dump "$folder/cut"
error_has 'is not a complete compiled trace: truncated'
expect 2 -o "$folder/none/file" "$traces/saw.txt"
error_has "$folder/none/file cannot be written: No such file or directory: create its folder first"
expect 0 -o "$folder/new" "$traces/saw.txt"
cmp "$folder/new" "$folder/saw.trace" || fail "-o wrote a different trace"
[ "$(find "$folder" -name 'new*' -o -name 'kept*' | wc -l)" -eq 2 ] || fail "leftover files"
TMPDIR=$folder/none expect 2 --dump "$traces/saw.txt"
error_has "a temporary file in $folder/none: "

# A time that is too large is refused by the change that makes it, because a later change could hide it.
printf '0 0%%\n1d 100%%\n' >"$folder/day.txt"
for options in '--scale 1000000 --clip 0,1d' '--scale 1000000 --scale 1/1000000' \
    '--offset 213503d --offset 213503d --scale 1/4'; do
    # shellcheck disable=SC2086 # several words
    expect 2 --check $options "$folder/day.txt"
    error_has 'the trace becomes longer than 213503d (584 years), the maximum'
done

# The mean of loads of 100 % is not above it.
for second in 0 510745.612634376 8147965.980644384 8676372.337798631 27553062.616047123 27604363.661396157; do
    echo "${second}s 100%"
done >"$folder/full.txt"
expect 0 --check --resample 200d "$folder/full.txt"

data=$source/tests/data/import
expect 2 --gaps fill "$traces/saw.txt"
error_has '--gaps is for measurements'
expect 2 --select x --constant 50%
error_has '--select is for measurements'
expect 2 --select 0 "$data/vmstat-t.txt"
error_has '--select has no meaning with vmstat'
expect 2 --time-unit ms "$data/sadf-local.csv"
error_has '--time-unit has no meaning with sadf'
expect 2 --unit percent "$data/sadf-local.csv"
error_has '--unit has no meaning with sadf'
expect 0 --check --gaps fill "$data/sadf-local.csv"
# The format is identified after a byte order mark, in a compressed file too; a trace may also have a mark.
{ printf '\357\273\277' && cat "$data/bitbrains.csv"; } >"$folder/mark.csv"
expect 0 --dump "$folder/mark.csv"
no_error
"$sstrace" --dump "$data/bitbrains.csv" | cmp -s - "$folder/out" || fail "wrong trace of a file with a byte order mark"
if command -v gzip >/dev/null; then
    gzip -c <"$folder/mark.csv" >"$folder/mark.csv.gz"
    expect 0 --dump "$folder/mark.csv.gz"
    "$sstrace" --dump "$data/bitbrains.csv" | cmp -s - "$folder/out" || fail "wrong trace of a packed file with a mark"
fi
{ printf '\357\273\277' && cat "$traces/saw.txt"; } >"$folder/mark.txt"
expect 0 --check "$folder/mark.txt"
# Options do not change each other, whatever their order.
printf 'time,load\n0,100\n1,200\n9,300\n' >"$folder/gap.csv"
for options in '--gaps refuse --cpus 4' '--cpus 4 --gaps refuse'; do
    # shellcheck disable=SC2086 # several words
    expect 2 --from csv --unit cores $options "$folder/gap.csv"
    error_has 'no samples for 7 s before this one'
done

# A missing value at the beginning is a gap, and does not hide the interval.
printf 'time,load\n0,10\n60,nan\n120,30\n180,40\n240,50\n' >"$folder/early.csv"
expect 2 --from csv --gaps refuse "$folder/early.csv"
error_has 'no samples for 1 min before this one'
expect 0 --from csv --dump "$folder/early.csv"
[ "$(tail -n 1 "$folder/out" | cut -d ' ' -f 1)" = 5M ] || fail "wrong length: $(cat "$folder/out")"
# An option is recommended only if the format has it.
sed 's/,[0-9.]*$/,250/' "$data/azure.csv" >"$folder/azure.csv"
expect 2 --check --from azure "$folder/azure.csv"
error_has 'must be between 0 and 100'
! grep -q -- --unit "$folder/err" || fail "$(cat "$folder/err")"
# Times of day do not tell the day of a second file.
printf 'time,load\n08:00:00,10\n09:00:00,20\n' >"$folder/day1.csv"
printf 'time,load\n10:00:00,10\n10:30:00,20\n' >"$folder/day2.csv"
expect 2 --from csv --check "$folder/day1.csv" "$folder/day2.csv"
error_has 'has no date in a known form, so the time between them is unknown'
expect 0 --from csv --check "$folder/day1.csv"

# All readers reject endless lines. A sanitizer reserves more address space than this limit.
most=200000
! grep -q '^SHOWSTOPPER_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" || most=unlimited
for format in '' --from=csv --from=vmstat; do
    status=0
    # shellcheck disable=SC2086 # none is no word
    (ulimit -v "$most" && timeout "$patience" "$sstrace" $format /dev/zero) >"$folder/out" 2>"$folder/err" ||
        status=$?
    [ "$status" -eq 2 ] || fail "/dev/zero $format: status $status"
    error_has '/dev/zero:1:'
    status=0
    # shellcheck disable=SC2086
    head -c 3000000 /dev/zero | tr '\0' 7 | "$sstrace" $format >"$folder/out" 2>"$folder/err" ||
        status=$?
    [ "$status" -eq 2 ] || fail "a line of 3 MB $format: status $status"
    error_has 'the line has more than'
done

# Several changes in one call equal the same changes in a pipeline.
"$sstrace" --clip 20s,1M --scale 2 --dump "$traces/saw.txt" >"$folder/one"
"$sstrace" --clip 20s,1M "$traces/saw.txt" | "$sstrace" --scale 2 | "$sstrace" --dump >"$folder/two"
cmp "$folder/one" "$folder/two" || fail "a pipeline gives a different trace than one call"
[ "$(cat "$folder/one")" = "$(printf '0 0.6\n40s 0.1\n80s 0.9')" ] || fail "$(cat "$folder/one")"
"$sstrace" --staircase 95%:5%:5%:3M --symmetric --stat >"$folder/out"
grep -q '^length   114 min$' "$folder/out" || fail "wrong length of 38 steps: $(cat "$folder/out")"

expect 0 --plot "$traces/saw.txt"
LC_ALL=C COLUMNS=40 LINES=10 expect 0 --plot "$traces/saw.txt"
awk 'length($0) > 40 { exit 1 }' "$folder/out" || fail "output wider than 40 columns"
expect 2 --plot -o "$folder/saw.txt" "$traces/saw.txt"
error_has '.svg or .png'
expect 0 --help --plot -o "$folder/saw.svg"
[ ! -e "$folder/saw.svg" ] || fail "--help draws"
if is_built reports; then
    expect 0 --plot -o "$folder/saw.svg" "$traces/saw.txt"
    no_error
    grep -q '</svg>' "$folder/saw.svg" || fail "the picture is not SVG"
    grep -q '>time in seconds</text>' "$folder/saw.svg" || fail "the picture has no time axis"
    expect 0 --plot -o "$folder/saw.png" "$traces/saw.txt"
    head -c 4 "$folder/saw.png" | grep -q PNG || fail "the picture is not PNG"
    expect 2 --plot -o "$folder/none/saw.png" "$traces/saw.txt"
    error_has "$folder/none/saw.png cannot be written: No such file or directory"
else
    skip_part "left-out: without packages of Python"
fi
mkdir -p "$folder/lone/bin"
cp "$sstrace" "$folder/lone/bin"
sstrace=$folder/lone/bin/sstrace expect 125 --plot -o "$folder/lone.svg" "$traces/saw.txt"
error_has "$folder/lone/libexec/showstopper/analysis is missing: install showstopper-analysis"
[ ! -e "$folder/lone.svg" ] || fail "a picture without the package"

expect 2 -o '' --constant 50%
error_has '--output is empty: write --output FILE'

# Text and binary files of sysstat are refused.
printf 'Linux 6.8.0 (host) \t11/21/2026 \t_x86_64_\t(2 CPU)\n\n12:00:01 CPU %%usr\n' >"$folder/text"
expect 2 --check "$folder/text"
error_has 'is text of mpstat, sar or iostat: use mpstat -o JSON, or sadf -d'
printf '\226\325\165\041\000\000' >"$folder/sa21"
expect 2 --check "$folder/sa21"
error_has 'is a binary sar file: convert it with sadf -d FILE | sstrace'

# The last number may have lost digits.
printf 'epoch,value\n0,90\n10,80\n20,8' >"$folder/percent-idle"
expect 0 --check --from collectd "$folder/percent-idle"
error_has 'percent-idle:4: the last line has no newline and may be truncated'

# Milliseconds that probably should be minutes are accepted with a warning.
warned() {
    local text=$1
    shift
    expect 0 --check "$@" <"$traces/saw.txt"
    [ "$(cat "$folder/err")" = "sstrace: warning: $text" ] || fail "$*: $(cat "$folder/err")"
}
warned '--resample: 5m is 5 milliseconds; for minutes write 5M' --resample 5m
warned '--clip: 2m is 2 milliseconds; for minutes write 2M' --clip 0,2m
warned '--offset: 2m is 2 milliseconds; for minutes write 2M' --offset 2m
warned '--staircase: HOLD: 3m is 3 milliseconds; for minutes write 3M' --staircase 95%:5%:5%:3m
warned '--sine: period: 1m is 1 millisecond; for minutes write 1M' --sine 50%,period=1m
warned '--constant: length: 1m is 1 millisecond; for minutes write 1M' --constant 50%,length=1m
printf '10\n20\n' >"$folder/numbers"
expect 0 --check --from planetlab --every 5m "$folder/numbers"
grep -qxF 'sstrace: warning: --every: 5m is 5 milliseconds; for minutes write 5M' "$folder/err" ||
    fail "wrong message about --every: $(cat "$folder/err")"

# --split writes, for each machine, the trace that --select would, and nothing else.
import=$source/tests/data/import
for table in azure alibaba-2017 alibaba-2021 google-2011 google-2019; do
    every=()
    [ $table != alibaba-2017 ] || every=(--every 5M)
    expect 0 --from $table "${every[@]}" --split "$folder/$table" "$import/$table.csv"
    output_is ''
    no_error
    for file in "$folder/$table"/*; do
        name=${file##*/}
        name=$(printf %b "${name//%/\\x}")
        "$sstrace" --from $table "${every[@]}" --select "${name%.trace}" "$import/$table.csv" >"$folder/one"
        cmp -s "$folder/one" "$file" || fail "$table: --split and --select differ for ${name%.trace}"
    done
done
[ "$(ls "$folder/google-2019")" = "22987853.trace
92469744092.trace" ] || fail "wrong files of --split: $(ls "$folder/google-2019")"
# Machines that begin later hold their first load until then. A single sample lasts as long as those of other machines.
expect 0 --from alibaba-2022 --dump --split "$folder/nodes/" "$import/alibaba-2022.csv"
[ "$(cat "$folder/err")" = "sstrace: $import/alibaba-2022.csv: gaps, in which the previous load is held: \
1, in 1 of 3 machines" ] || fail "wrong message about gaps: $(cat "$folder/err")"
[ "$(cat "$folder/nodes/NODE_12.txt")" = '1M 0
2M 0
2M 1
3M 1' ] || fail "wrong trace of a late machine: $(cat "$folder/nodes/NODE_12.txt")"
[ "$(tail -n 1 "$folder/nodes/NODE_11517.txt")" = '3M 0.75' ] || fail "wrong end of a trace with a gap"
expect 0 --from alibaba-2022 --dump --clip 1M,2M --split "$folder/changed" "$import/alibaba-2022.csv"
[ "$(cat "$folder/changed/NODE_12.txt")" = '0 0
1M 0' ] || fail "--clip is not of all machines' time: $(cat "$folder/changed/NODE_12.txt")"
# Without dates, a machine is not changed by the rows of another between or before its own.
printf 'host,load\na,10\nb,20\na,30\nb,40\na,50\nb,60\n' >"$folder/untimed.csv"
{ echo time,host,load && printf '%s:00:00,a,10\n' 01 11 21 && printf '%s:00:00,b,20\n' 01 11 21; } >"$folder/sorted.csv"
{ echo time,host,load && printf '%s,a,10\n%s,b,20\n' {23:00,23:00,23:30,23:30,00:00,00:00,00:30,00:30}:00; } \
    >"$folder/overnight.csv"
for table in untimed sorted overnight; do
    every=()
    [ $table != untimed ] || every=(--every 10s)
    expect 0 --from csv "${every[@]}" --dump --split "$folder/$table" "$folder/$table.csv"
    no_error
    for name in a b; do
        "$sstrace" --from csv "${every[@]}" --select $name --dump "$folder/$table.csv" >"$folder/one"
        cmp -s "$folder/one" "$folder/$table/$name.txt" ||
            fail "$table: --split and --select differ for $name: $(cat "$folder/$table/$name.txt")"
    done
done
echo 00:30:00,c,30 >>"$folder/overnight.csv"
expect 2 --from csv --split "$folder/undated" "$folder/overnight.csv"
error_has 'overnight.csv:10:1: the times of another machine have passed midnight'
# Later files continue each machine.
expect 0 --from csv --every 10s --dump --split "$folder/twice" "$folder/untimed.csv" "$folder/untimed.csv"
[ "$(tail -n 1 "$folder/twice/b.txt")" = '1M 0.6' ] || fail "wrong end of two files: $(cat "$folder/twice/b.txt")"
# A killed sstrace with the same pid, as in a container, may have left its folder.
mkdir "$folder/container"
# shellcheck disable=SC2016 # for bash
bash -c 'mkdir "$2.$BASHPID" && exec "$0" --from alibaba-2021 --split "$2" "$1"' \
    "$sstrace" "$import/alibaba-2021.csv" "$folder/container/split" >"$folder/out" 2>"$folder/err" ||
    fail "--split after a killed one: $(cat "$folder/err")"
diff -r "$folder/alibaba-2021" "$folder/container/split" || fail "--split after a killed one writes other files"
[ "$(find "$folder/container" -mindepth 1 -maxdepth 1 | wc -l)" -eq 2 ] || fail "leftover folder: $(ls "$folder/container")"
# The folder may be named by a symbolic link, but must not be the current one.
mkdir "$folder/linked" "$folder/current"
ln -s linked "$folder/link"
expect 0 --from alibaba-2021 --split "$folder/link" "$import/alibaba-2021.csv"
diff -r "$folder/alibaba-2021" "$folder/linked" || fail "--split writes other files through a symbolic link"
[ -L "$folder/link" ] || fail "--split replaces a symbolic link"
mkdir -m 700 "$folder/private"
expect 0 --from alibaba-2021 --split "$folder/private" "$import/alibaba-2021.csv"
[ "$(stat -c %a "$folder/private")" = 700 ] || fail "--split changes the mode of a folder"
ln -s nowhere "$folder/broken"
expect 2 --from alibaba-2021 --split "$folder/broken" "$import/alibaba-2021.csv"
error_has "--split: $folder/broken is a link to nothing: make its folder or remove it"
table=$(realpath "$import/alibaba-2021.csv")
cd "$folder/current"
expect 2 --from alibaba-2021 --split . "$table"
error_has '--split: . is the current folder: name another one'
cd - >/dev/null
# --split writes all files or none.
expect 2 --from alibaba-2022 --split "$folder/nodes" "$import/alibaba-2022.csv"
error_has 'nodes cannot be written: it exists and is not empty'
mkdir "$folder/empty"
{ cat "$import/alibaba-2021.csv" && echo broken; } >"$folder/broken.csv"
expect 2 --from alibaba-2021 --split "$folder/empty" "$folder/broken.csv"
error_has 'broken.csv:6:'
{ cat "$import/alibaba-2021.csv" && echo "90000,$(printf 'm%.0s' {1..300}),0.5,0.5"; } >"$folder/broken.csv"
expect 2 --from alibaba-2021 --split "$folder/empty" "$folder/broken.csv"
error_has 'is too long for a file'
[ -z "$(ls -A "$folder/empty")" ] || fail "a failed --split left files"
set -- "$folder"/empty.*
[ ! -e "$1" ] || fail "a failed --split left $1"
awk 'BEGIN { for (time = 0; time <= 60; time += 60) for (i = 0; i < 20000; i++) print time ",m" i ",0.5,0.5" }' \
    >"$folder/many.csv"
"$sstrace" --from alibaba-2021 --split "$folder/empty" "$folder/many.csv" &
tracer=$!
until [ -e "$folder/empty.$tracer" ] || [ ! -e "/proc/$tracer" ]; do sleep 0.01; done
kill "$tracer" 2>/dev/null || true
status=0
wait "$tracer" 2>/dev/null || status=$?
[ "$status" -eq 143 ] || fail "--split that got a signal: status $status"
set -- "$folder"/empty.*
[ ! -e "$1" ] || fail "an interrupted --split left $1"
expect 2 --split "$folder/empty" "$traces/saw.txt"
error_has '--split is for measurements, and this is a trace'
printf 'time,load\n0,10%%\n1,20%%\n' >"$folder/one.csv"
expect 2 --from csv --split "$folder/empty" "$folder/one.csv"
error_has 'no column names the machine'
expect 2 --split "$folder/empty" --stat "$folder/one.csv"
error_has '--split writes traces'
expect 2 --split "$folder/empty" --select a "$folder/one.csv"
error_has '--split cannot be combined with'
expect 2 --from planetlab --split "$folder/empty" "$folder/numbers"
error_has '--split has no meaning with planetlab'

if have_terminal; then
    status=0
    script -qec "'$sstrace' '$traces/saw.txt'" /dev/null >"$folder/typed" </dev/null || status=$?
    [ "$status" -eq 2 ] || fail "compiled trace on a terminal: status $status"
    grep -q 'nothing for a terminal' "$folder/typed" || fail "$(cat "$folder/typed")"
fi
