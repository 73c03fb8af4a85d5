# SPDX-License-Identifier: Apache-2.0
# Prints rows of rows.awk as the function _showstopper_specs, which sets `specs`, arguments of _arguments.
BEGIN {
    FS = "\t"
    print "_showstopper_specs() {\n    operand=file commands=()\n    case $1 in"
}
# The formats come after the options that name them.
FNR == NR {
    if ($2 == "formats") formats = $6
    next
}
$2 == "formats" { next }
$1 != section {
    if (section != "") print "        );;"
    section = $1
    print "    ('" section "')\n        specs=("
}
$2 == "commands" { operands = operands "\n        commands=(" $6 ")"; next }
$2 == "operand" {
    print "        )\n        operand=" $5 operands
    operands = ""
    section = ""
    print "        ;;"
    next
}
{
    help = $7
    gsub(/[][\\:]/, "\\\\&", help)
    gsub(/'/, "'\\''", help)
    take = $4 > 0 ? "=" : ""
    action = $4 > 0 ? ":" $3 ":" action_of($5, $6) : ""
    if ($4 > 1) action = action ": : "
    if ($2 == "-")
        print "            '*--" $3 take "[" help "]" action "'"
    else
        print "            '*'{-" $2 ($4 > 0 ? "+" : "") ",--" $3 take "}'[" help "]" action "'"
}
END { print "    (*) return 1 ;;\n    esac\n}" }

function action_of(kind, words) {
    if (kind == "words") return "(" words ")"
    if (kind == "list") return "_values -s , word " words
    if (kind == "file") return "_files"
    if (kind == "folder") return "_files -/"
    if (kind == "pid") return "_pids"
    if (kind == "formats") return "(" formats ")"
    # A space keeps _arguments from adding arguments.
    if (kind ~ /^(module|options) /) return " _showstopper_" kind " " words
    if (kind ~ /^(help-module|run|workloads?)$/) return "_showstopper_" kind
    return " "
}
