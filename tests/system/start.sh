# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced first by bash tests whose first argument is the build folder. Sets `here`, the folder of the tests; `source`
# and `build`; `scratch`, a new folder, which is removed at exit; and `pid`, empty: a process that is ended at exit.

set -euo pipefail

# fail TEXT...: ends the test.
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

end_test() {
    if [ -n "$pid" ]; then
        kill "$pid" 2>/dev/null || true
        wait "$pid" || true
    fi
    rm -rf "$scratch"
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # for the caller
source=$(cd "$here/../.." && pwd) build=$(realpath "$1")
# shellcheck source=skip.sh
. "$here/skip.sh"
pid=''
scratch=$(mktemp -d)
trap end_test EXIT
