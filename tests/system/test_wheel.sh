#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The wheel of packaging/wheel installs programs that need nothing else, and reports that name what they need.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=static.sh
. "$here/static.sh"
need_python ensurepip python3-venv
need_pypi
command=(showstopper -n 1 -l 50% --duration 700m)
export SOURCE_DATE_EPOCH=1700000000

refuses 1 "none has no programs: make them with packaging/static" "$source/packaging/wheel" none made
refuses 1 "none has no build for x86_64: make it" "$source/packaging/wheel" --arch x86_64 none made
[ ! -e made ] || fail "wrote something without programs"

# The same files give the same bytes.
make_static x86_64
make_wheel made
make_wheel again
cmp "made/$wheel" "again/$wheel" || fail "two builds differ"

"$python" - "made/$wheel" "$build" <<'END' || fail "the wheel is not valid"
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
files = {name: wheel.read(name) for name in wheel.namelist()}
start = "showstopper-" + sys.argv[1].split("-")[1]
programs = {name.rsplit("/", 1)[1] for name in files if name.startswith(f"{start}.data/scripts/")}
needed = "showstopper ssload ssburn sstrace sssim ssbatch ssrequest ssprofile ssantagonist ssfleet showstopper-platform"
assert set(needed.split()) <= programs, programs
for name in "libexec/showstopper/showstopper-replay share/showstopper/batteries/own.txt share/man/man1/ssbatch.1".split():
    assert f"{start}.data/data/{name}" in files, f"no {name}"
assert not any("__pycache__" in name for name in files), "compiled files"
# Any user could make the folder in which the wheel was assembled.
for name, text in files.items():
    assert b"/wheel/data" not in text and sys.argv[2].encode() not in text, f"{name} names a folder of this machine"
for name in "LICENSE LICENSE.musl LICENSE.json-c LICENSE.yajl LICENSE.curl".split():
    assert f"{start}.dist-info/licenses/{name}" in files, f"no {name}"
about = files[f"{start}.dist-info/METADATA"].decode().splitlines()
assert "License-Expression: Apache-2.0 AND MIT AND ISC AND curl" in about, about
END

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
