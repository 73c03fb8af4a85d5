#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pages fit the screen of a telephone and a small window: wide content scrolls in its own box.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
need chromium mandoc cmark
need_built reports

mkdir html
"$source/packaging/html/make" --tutorials "$source/tutorials/README.md" html "$source/src/showstopper-limits.7" \
    "$source/tools/ssprofile/showstopper-portability.7"
cp html/style.css .
"$build/bin/sssim" -P 2 -n 4 --foreground serial --iteration 50m -t staircase -T 90%:10%:20%,hold=2s,symmetric=yes \
    --record record >log 2>&1 || fail "$(cat log)"
"$build/bin/ssreport" --quiet -o report record 2>log || fail "$(cat log)"
"$build/bin/ssprofile" compare -o ratios "$source/tests/data/profile/results.csv:"{base,target}:without >log 2>&1 ||
    fail "$(cat log)"
pages=(html/index.html html/showstopper-limits.7.html html/showstopper-portability.7.html html/hold-a-load.html
    report/report.html ratios/compare.html)

# A window of chromium has at least 500 pixels, but a frame can have any width. The page in it reports the width of its
# content.
printf '%s\n' '<pre></pre><script>onmessage = e => document.querySelector("pre").append(e.data + "\n")</script>' >frames.html
for number in "${!pages[@]}"; do
    cat "${pages[number]}" - >"$number.html" <<END
<script>onload = () => parent.postMessage("$number " + innerWidth + " " + document.documentElement.scrollWidth, "*")</script>
END
    for width in 390 600 1280; do
        echo "<iframe src=\"$number.html\" style=\"width:${width}px;height:600px;border:0\"></iframe>" >>frames.html
        echo "$number $width $width"
    done
done | sort >expected
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" \
    --virtual-time-budget=20000 --dump-dom "file://$scratch/frames.html" >dom 2>log || fail "chromium: $(tail -n 3 log)"
sed 's/<[^>]*>/\n/g' dom | grep -E '^[0-9]+ [0-9]+ [0-9]+$' | sort >found
diff expected found >&2 || fail "content is wider than a frame: page, width of the frame, of the page: ${pages[*]}"
# An edge that hides columns is shaded.
grep -A 3 '^\.wide{overflow-x:auto;' report/report.html | grep -q ' local\>' || fail "hidden columns are not indicated"
