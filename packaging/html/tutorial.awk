# SPDX-License-Identifier: Apache-2.0
# Turns a tutorial into HTML: the parts of Markdown that tutorials use, which are one heading of the page, headings,
# paragraphs, lists, blocks of commands, `code` and links. Anything else in it is an error. Links to other files than
# those of the variable `pages`, between spaces, become plain text.

function refuse(what) {
    print FILENAME ":" FNR ": " what > "/dev/stderr"
    failed = 1
    exit 1
}

function escape(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
}

function links(text,    done, label, target, at) {
    while (match(text, /\[[^]]*\]\([^)]*\)/)) {
        label = substr(text, RSTART + 1, RLENGTH - 2)
        at = index(label, "](")
        target = substr(label, at + 2)
        label = substr(label, 1, at - 1)
        if (index(pages, " " target " ")) {
            sub(/\.md$/, ".html", target)
            label = "<a href=\"" target "\">" label "</a>"
        }
        done = done substr(text, 1, RSTART - 1) label
        text = substr(text, RSTART + RLENGTH)
    }
    return done text
}

# Every other part between backquotes is code.
function inline(text,    parts, count, i, done) {
    count = split(escape(text), parts, "`")
    if (count % 2 == 0) refuse("a backquote without another one")
    for (i = 1; i <= count; i++) done = done (i % 2 ? links(parts[i]) : "<code>" parts[i] "</code>")
    return done
}

# Ends a paragraph or an item, whose lines are in `text`.
function end_text() {
    if (text == "") return
    print "<" tag ">" inline(text) "</" tag ">"
    text = ""
}

function end_list() {
    end_text()
    if (listing) print "</ul>"
    listing = 0
}

function begin(element, line) {
    tag = element
    text = line
}

/^```/ {
    if (!code) end_list()
    printf "%s", code ? "</pre>\n" : "<pre>"
    code = !code
    next
}
code { print escape($0); next }
/^<!--.*-->$/ { next }
/^##? / {
    end_list()
    begin(/^## / ? "h2" : "h1", substr($0, index($0, " ") + 1))
    end_text()
    next
}
/^- / {
    end_text()
    if (!listing) print "<ul>"
    listing = 1
    begin("li", substr($0, 3))
    next
}
/^$/ { end_list(); next }
/^([#|>*+]|[0-9]+\. |   )|\*\*|!\[/ { refuse("unknown in tutorials: " $0) }
text != "" { text = text "\n" $0; sub(/\n  /, "\n", text); next }
{ begin("p", $0) }
END {
    if (failed) exit 1
    if (code) refuse("a block without an end")
    end_list()
}
