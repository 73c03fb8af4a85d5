#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The wheel of packaging/wheel installs programs that need nothing else, and reports that name what they need.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=static.sh
. "$here/static.sh"
need_python ensurepip python3-venv
make_static x86_64
command=(showstopper -n 1 -l 50% --duration 700m)

# The same files give the same bytes, however they were copied.
SOURCE_DATE_EPOCH=1700000000 "$source/packaging/wheel" static made >log 2>&1 || fail "$(<log)"
(umask 077 && mkdir copied && cp -r static/x86_64 copied)
SOURCE_DATE_EPOCH=1700000000 "$source/packaging/wheel" --arch x86_64 copied again >log 2>&1 || fail "$(<log)"
wheel=showstopper-$version-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl
cmp "made/$wheel" "again/$wheel" || fail "two builds differ"
[ "$(ls made)" = "$wheel" ] || fail "made other files: $(ls made)"

# RECORD has the digest of each file.
"$python" - "made/$wheel" <<'END' || fail "the wheel is not valid"
import base64, csv, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
rows = list(csv.reader(wheel.read(names[-1]).decode().splitlines()))
assert [row[0] for row in rows] == names, "RECORD lists other files"
for name, digest, size in rows[:-1]:
    data = wheel.read(name)
    found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    assert (digest, int(size)) == (f"sha256={found}", len(data)), name
assert any(name.endswith(".dist-info/licenses/LICENSE.musl") for name in names), "no license of musl"
END

rm copied/x86_64/ssload
refuses 1 "x86_64 lacks ssload: make them with packaging/static" "$source/packaging/wheel" copied none
[ ! -e none ] || fail "wrote something without ssload"

# install FOLDER WHEEL [OPTION]...: installs it in a new environment.
install() {
    "$python" -m venv "${@:3}" "$1" >log 2>&1 || fail "$(<log)"
    "$1/bin/pip" --disable-pip-version-check install --no-index "$2" >log 2>&1 || fail "$(<log)"
}

install environment "made/$wheel"
[ "$(environment/bin/python -c 'import showstopper; print(showstopper.__version__)')" = "$version" ] ||
    fail "import showstopper"
# ssburn is found although PATH lacks it.
"environment/bin/${command[0]}" "${command[@]:1}" --record record ssburn serial >output 2>&1 || fail "$(<output)"
grep -q '^verdict: ' output || fail "$(<output)"
refuses 125 ": install showstopper[analysis]" environment/bin/ssreport record
refuses 125 ": install showstopper[analysis]" environment/bin/sstrace --plot -o saw.svg "$source/traces/saw.txt"

# The extra has all that reports need.
if "$python" -c 'import numpy, pandas, scipy, matplotlib, jinja2' 2>/dev/null; then
    install reports "made/${wheel}[analysis]" --system-site-packages
    reports/bin/ssreport -o report record >output 2>&1 || fail "$(<output)"
    reports/bin/sstrace --plot -o saw.svg "$source/traces/saw.txt" >output 2>&1 || fail "$(<output)"
    { [ -s saw.svg ] && [ -s report/report.html ]; } || fail "no pictures"
else
    skip_part "pandas: not installed"
fi

if ! command -v pipx >/dev/null; then
    skip_part "pipx: not installed"
else
    export PIPX_HOME=$scratch/pipx PIPX_BIN_DIR=$scratch/pipx-bin
    if pipx run --python "$(command -v "$python")" --spec "made/$wheel" "${command[@]}" ssburn serial >output 2>&1; then
        grep -q '^verdict: ' output || fail "pipx: $(<output)"
    elif grep -q '^Failed to upgrade shared libraries' output; then
        skip_part "pypi: pipx cannot install its own libraries"
    else
        fail "pipx: $(<output)"
    fi
fi
