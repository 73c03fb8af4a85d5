#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The target html converts every manual page and tutorial. All links have a target, and references to pages are links.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
need mandoc cmark
find "$source/src" "$source/tools" "$build/showstopper-modules.7" -name '*.[157]' >"$scratch/pages"
mapfile -t pages <"$scratch/pages"

cat >"$scratch/tutorial.md" <<'END'
# Why `&` how?
```
a <b & `c`
```
Text of ssload(1)
and [this one](tutorial.md), but not [that `one`](../that.md).
END
echo '| why | [tutorial.md](tutorial.md) |' >"$scratch/list.md"
cat >"$scratch/expected" <<'END'
<h1>Why <code>&amp;</code> how?</h1>
<pre><code>a &lt;b &amp; `c`
</code></pre>
<p>Text of <a href="ssload.1.html">ssload(1)</a>
and <a href="tutorial.html">this one</a>, but not that <code>one</code>.</p>
</body>
</html>
END
"$source/packaging/html/make" --tutorials "$scratch/list.md" "$scratch/one" "${pages[@]}"
sed '1,/<nav>/d' "$scratch/one/tutorial.html" | diff "$scratch/expected" - >&2 || fail "a tutorial has other HTML"
grep -q '<title>Why &amp; how?</title>' "$scratch/one/tutorial.html" || fail "a title is not escaped"

"$source/packaging/html/make" --tutorials "$source/tutorials/README.md" "$scratch/html" "${pages[@]}"
cd "$scratch/html"
for page in "${pages[@]}"; do
    name=${page##*/}
    [ -s "$name.html" ] || fail "$name.html was not made"
    grep -q "<a href=\"$name.html\">.*</a></dt>\$" index.html || fail "the index lacks $name"
    ! sed 's,<a href="[^"]*">[^<]*</a>,,g' ./*.html | grep -E "(^|[^a-z-])${name%.*}(</b>)?\(${name##*.}\)" >&2 ||
        fail "references to $name are not links"
done
for tutorial in "$source"/tutorials/[a-z]*.md; do
    name=$(basename "$tutorial" .md)
    grep -qF "<li><a href=\"$name.html\">$(sed -n '1s/^# //p' "$tutorial" | tr -d '`')</a></li>" index.html ||
        fail "the index lacks the tutorial $name"
done
grep -oh 'href="[^"#:]*' ./*.html | sed 's/href="//' | sort -u >"$scratch/links"
while read -r link; do
    [ -z "$link" ] || [ -e "$link" ] || fail "a link leads to $link, which does not exist"
done <"$scratch/links"
for page in *.html; do
    for part in 'name="viewport"' 'href="style.css"'; do
        grep -q "$part" "$page" || fail "$page lacks $part"
    done
done
