# SPDX-License-Identifier: Apache-2.0
# Prints the rows of rows.awk for one program, `program`, as commands of fish.
BEGIN { FS = "\t" }
{ split($1, parts, " ") }
parts[1] != program { next }
{
    count++
    for (i = 1; i <= 7; i++)
        column[count, i] = $i
}
$2 == "formats" { formats = $6 }
$1 != program && index(own " ", " " parts[2] " ") == 0 { own = own " " parts[2] }
$1 == program && $4 > 0 { valued = valued ($2 == "-" ? "" : " -" $2) " --" $3 }
END {
    for (i = 1; i <= count; i++)
        if (column[i, 2] == "operand") print_operand(i)
    for (i = 1; i <= count; i++)
        print_row(i)
}

function quote(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/'/, "\\'", text)
    return "'" text "'"
}

# The condition under which the options of this row are known.
function condition(i,    command) {
    command = column[i, 1]
    if (command != program) {
        sub(/^[^ ]+ /, "", command)
        return "__fish_seen_subcommand_from " command
    }
    if (own != "") return "not __fish_seen_subcommand_from" own
    if (rest != "") return "not " rest " >/dev/null"
    return ""
}

function print_operand(i,    kind) {
    kind = column[i, 5]
    if (column[i, 1] == "ssburn kernel")
        print "complete -c ssburn -n '__fish_seen_subcommand_from kernel' -f -a " \
            "'(__showstopper_run ssburn kernel --list | string replace -r \" .*\" \"\")'"
    if (column[i, 1] != program || kind == "file") return
    rest = "__showstopper_rest " (kind == "command" ? "command" : "after") valued
    print "complete -c " program " -n " quote(rest " >/dev/null") " -x -a " \
        quote("(__showstopper_command " (kind == "command" ? "command" : "after") valued ")")
    if (kind == "knob")
        print "complete -c ssactuate -n 'not " rest " >/dev/null; and __fish_seen_subcommand_from run get' -f -a " \
            "'(__showstopper_knobs)'"
}

function print_row(i,    line, words, when) {
    if (column[i, 2] == "operand" || column[i, 2] == "formats") return
    line = "complete -c " program
    if (column[i, 2] == "commands") {
        print line " -n 'test (count (commandline -opc)) -eq 1' -f -a " quote(column[i, 6])
        return
    }
    when = condition(i)
    if (when != "") line = line " -n " quote(when)
    if (column[i, 2] != "-") line = line " -s " column[i, 2]
    line = line " -l " column[i, 3]
    if (column[i, 4] > 0) line = line " " values_of(column[i, 5], column[i, 6])
    print line " -d " quote(column[i, 7])
}

function values_of(kind, words) {
    if (kind == "words") return "-x -a " quote(words)
    if (kind == "list") return "-x -a " quote("(__showstopper_list " words ")")
    if (kind == "file") return "-r -F"
    if (kind == "folder") return "-x -a '(__fish_complete_directories (__showstopper_current))'"
    if (kind == "formats") return "-x -a " quote(formats)
    if (kind ~ /^module /) return "-x -a " quote("(__showstopper_modules " substr(kind, 8) ")")
    if (kind ~ /^options /) return "-x -a " quote("(__showstopper_" kind " " words ")")
    if (kind == "help-module") return "-x -a '(__showstopper_run showstopper --list-modules | string replace -r \" .*\" \"\")'"
    if (kind == "pid") return "-x -a '(__fish_complete_pids)'"
    if (kind == "run") return "-x -a '(pgrep -x showstopper)'"
    if (kind == "workload") return "-x -a '(__showstopper_workloads)'"
    if (kind == "workloads") return "-x -a '(__showstopper_list (__showstopper_workloads))'"
    return "-x"
}
