#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pages fit the screen of a telephone and a small window: wide content scrolls in its own box. Argument: the build
# folder.

# shellcheck source=start.sh
. "$(dirname "$0")/start.sh"
need chromium mandoc cmark
have_reports "$build" || skip "left-out: no reports"
cd "$scratch"

# A window of chromium has at least 500 pixels, but a frame can have any width. The page in it reports the width of its
# content.
measure='<script>onload = () => parent.postMessage(innerWidth + " " + document.documentElement.scrollWidth, "*")</script>'

# fits PAGE WIDTH
fits() {
    local sizes
    { cat "$1" && echo "$measure"; } >page.html
    cat >frame.html <<END
<body><p></p><script>onmessage = e => document.querySelector("p").textContent = "sizes " + e.data</script>
<iframe src="page.html" style="width:$2px;height:600px;border:0"></iframe></body>
END
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" \
        --virtual-time-budget=5000 --dump-dom "file://$scratch/frame.html" >dom 2>log || fail "chromium: $(tail -n 3 log)"
    sizes=$(sed -n 's/.*<p>sizes \([0-9 ]*\).*/\1/p' dom)
    [ "$sizes" = "$2 $2" ] || fail "$1 in a frame of $2 pixels: '$sizes' (width of the frame, of the page)"
}

mkdir html
"$source/packaging/html/make" --tutorials "$source/tutorials/README.md" html "$source/src/showstopper-limits.7" \
    "$source/tools/ssprofile/showstopper-portability.7"
cp html/style.css .
"$build/bin/sssim" -P 2 -n 4 --foreground serial --iteration 50m -t staircase -T 90%:10%:20%,hold=2s,symmetric=yes \
    --record record >log 2>&1 || fail "$(cat log)"
"$build/bin/ssreport" --quiet -o report record 2>log || fail "$(cat log)"
"$build/bin/ssprofile" compare -o ratios "$source/tests/data/profile/results.csv:"{base,target}:without >log 2>&1 ||
    fail "$(cat log)"
for width in 390 600 1280; do
    for page in html/index.html html/showstopper-limits.7.html html/showstopper-portability.7.html html/hold-a-load.html \
        report/report.html ratios/compare.html; do
        fits "$page" "$width"
    done
done
# An edge that hides columns is shaded.
grep -A 3 '^\.wide{overflow-x:auto;' report/report.html | grep -q ' local\>' || fail "hidden columns are not indicated"
