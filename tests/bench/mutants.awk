# SPDX-License-Identifier: Apache-2.0
# Reads C files in the layout of clang-format and prints each place that a mutant can change, in columns separated by
# tabs: a random number, kind, file, line, first column, length, replacement. `seed` determines the numbers. Omits
# comments, strings, preprocessor lines, and releases of resources, because only a sanitizer detects a leak.
BEGIN {
    OFS = "\t"
    srand(seed)
    split("== != <= >= < > && || + - * / % & | += -=", operators, " ")
    split("!= == < > <= >= || && - + / * * | & -= +=", replacements, " ")
    for (i = 1; i in operators; i++)
        replacement[operators[i]] = replacements[i]
}
FNR == 1 {
    in_comment = in_directive = complete = in_int = 0
}
/^[A-Za-z].*\(/ {
    in_int = /^([A-Za-z_]+(\([0-9, ]*\))? )*int [a-z0-9_]+\(/
}
{
    directive = in_directive || /^#/
    in_directive = directive && /\\$/
    code = directive ? "" : mask($0)
    if (code ~ /^ /) {
        offer_operators(code " ")
        offer_negations(code)
        offer_constants(code)
        offer_statement(code)
    }
    if (code ~ /[^ ]/)
        complete = code ~ /[;{}:)] *$/ || code ~ /^ *else *$/
}

# Replaces comments by spaces, and strings and characters by quotes.
function mask(line,  result, at, letter, quote) {
    if (!in_comment && line !~ /["'\/]/)
        return line
    for (at = 1; at <= length(line); at++) {
        letter = substr(line, at, 1)
        if (in_comment) {
            if (substr(line, at, 2) == "*/") {
                in_comment = 0
                result = result " "
                at++
            }
            letter = " "
        } else if (quote != "") {
            if (letter == "\\") {
                result = result "\""
                at++
            } else if (letter == quote)
                quote = ""
            letter = "\""
        } else if (letter == "\"" || letter == "'") {
            quote = letter
            letter = "\""
        } else if (substr(line, at, 2) == "/*") {
            in_comment = 1
            result = result " "
            at++
            letter = " "
        } else if (substr(line, at, 2) == "//")
            return result
        result = result letter
    }
    return result
}

function offer(kind, column, length_, new) {
    print rand(), kind, FILENAME, FNR, column, length_, new
}

# Binary operators have a space on both sides.
function offer_operators(code,  at, found, operator) {
    at = 1
    while (match(substr(code, at), / [-=!<>&|+*\/%]=? | && | \|\| /)) {
        found = at + RSTART
        operator = substr(code, found, RLENGTH - 2)
        if (operator in replacement)
            offer(operator ~ /[<>]|[=!]=/ ? "comparison" : operator ~ /&&|\|\|/ ? "logical" : "arithmetic", found,
                length(operator), replacement[operator])
        at = found + 1
    }
}

function offer_negations(code,  at, found) {
    at = 1
    while (match(substr(code, at), /![A-Za-z_(*]/)) {
        found = at + RSTART - 1
        offer("logical", found, 1, "")
        at = found + 1
    }
}

# Decimal numbers, except sizes of buffers, and the return values of success and failure: all negative numbers mean
# failure, all others success.
function offer_constants(code,  at, found, number, before, after) {
    at = 1
    while (match(substr(code, at), /[0-9][0-9A-Za-z_.]*/)) {
        found = at + RSTART - 1
        number = substr(code, found, RLENGTH)
        before = found > 1 ? substr(code, found - 1, 1) : " "
        after = substr(code, found + RLENGTH, 1)
        if (before !~ /[A-Za-z_.]/ && number ~ /^([1-9][0-9]*|0|[0-9]+\.[0-9]+)$/ &&
            substr(code, 1, found - 1) !~ /return -$/ && !(in_int && code ~ /^ *return 0;/) &&
            !(before == "[" && after == "]" && number + 0 >= 8))
            offer("constant", found, length(number), changed(number))
        at = found + length(number)
    }
}

function changed(number,  new) {
    new = number == 0 || rand() < 0.5 ? number + 1 : number - 1
    return number ~ /\./ ? new : sprintf("%.0f", new)
}

# Assignments and calls on a separate line.
function offer_statement(code,  start, text) {
    if (!complete || code !~ /; *$/)
        return
    match(code, /^ */)
    start = RLENGTH + 1
    text = substr(code, start)
    if (text !~ /^\**[A-Za-z_][A-Za-z_0-9]*(->|\.|\[|\(| [-+*\/|&]?= |\+\+|--)/ ||
        text ~ /^(return|free|close|fclose|closedir|_Static_assert|for|while|switch|if)[( ]/ || text ~ /_free\(/ ||
        gsub(/\(/, "(", text) != gsub(/\)/, ")", text))
        return
    sub(/ *$/, "", text)
    offer("statement", start, length(text), ";")
}
