# SPDX-License-Identifier: Apache-2.0
# Reads help texts, each after a line "@PROGRAM" or "@PROGRAM COMMAND", and prints a line for each option, with tabs
# between its columns: program and command, letter or -, long name, number of values, kind of the value, words, help.
# A line whose letter is "operand" describes the other words of the command line: it has a kind, words, and no name.
#
# kind             the value is
# flag             absent
# any              text that cannot be completed
# words, list      one of the words; several of them, separated by commas
# file, folder     a path
# module KIND      a module of this kind, with the default as the word; its options: options KIND
# help-module      KIND/NAME
# pid, run         the number of a process; of a running showstopper
# workload(s)      a name of the catalogue; several of them
# kernel           a name that ssburn kernel --list prints
# knob             KNOB=LEVEL of ssactuate
# command, after   a command; a command after --
BEGIN { OFS = "\t"; kinds = " trace feedback control space dithering " }

/^@/ {
    finish()
    print_operand()
    section = substr($0, 2)
    split(section, parts, " ")
    program = parts[1]
    usage = "read"
    operand = commands = formats = ""
    next
}
usage == "read" && /^(Usage:|      )/ {
    if ($0 ~ /\[--\] COMMAND/) operand = "command"
    else if ($0 ~ /-- COMMAND/ && operand == "") operand = "after"
    line = $0
    sub(/^(Usage:)? */, "", line)
    split(line, words, " ")
    if (words[1] == section && words[2] ~ /^[a-z]+(\|[a-z]+)*$/) {
        count = split(words[2], names, "|")
        for (i = 1; i <= count; i++)
            add_command(names[i])
    }
    next
}
usage == "read" { usage = "over" }
/^(Commands|Classes|Experiments|For a plan of your own, by ssbatch):$/ { finish(); list = "commands"; next }
/^Formats:$/ { finish(); list = "formats"; next }
list != "" && /^  [a-z0-9-]+ / {
    if (list == "commands") add_command($1)
    else formats = formats " " $1
    next
}
list != "" && !/^   / { list = "" }

# An option, or several with one help.
/^  ((-.,|   ) )?--[a-z]/ {
    finish()
    left = $0
    # The help begins after two spaces, or on the next line.
    at = match(substr(left, 7), /[^ ]  +[^ ]/)
    text = at ? substr(left, 6 + at + RLENGTH - 1) : ""
    if (at) left = substr(left, 1, 6 + at)
    else if (!split_at(30)) split_at(22)
    letter = left ~ /^  -.,/ ? substr(left, 4, 1) : "-"
    sub(/^  (-.,|   )? */, "", left)
    names_read = left
    pending = 1
    below = ""
    next
}
# Words that the help of an option lists below it.
pending && /^ +[a-z0-9][a-z0-9-]*  +[^ ]/ && match($0, /^ +/) && RLENGTH >= 18 && RLENGTH < 30 { below = below " " $1; next }
pending && /^          / { line = $0; sub(/^ +/, " ", line); text = text line; next }
{ finish() }
END { finish(); print_operand() }

# The value ends just before the column of the help: splits `left` there.
function split_at(column) {
    if (substr(left, 1, column) !~ /--[^ ]+ [^ ]+ $/) return 0
    text = substr(left, column + 1)
    left = substr(left, 1, column - 1)
    return 1
}

function add_command(name) {
    if (index(commands " ", " " name " ") == 0)
        commands = commands " " name
}

# Prints the rows of the option that was read.
function finish(    count, i, items, name, value) {
    if (!pending) return
    pending = 0
    count = split(names_read, items, /, +--/)
    for (i = 1; i <= count; i++) {
        name = items[i]
        sub(/^--/, "", name)
        value = ""
        if (name ~ / /) {
            value = name
            sub(/^[^ ]* +/, "", value)
            sub(/ .*/, "", name)
        }
        print_option(name, value)
    }
}

function print_option(name, value,    kind, words, count, help) {
    if ((section, name) in printed) return # examples repeat options
    printed[section, name] = 1
    count = value == "" ? 0 : value ~ / / ? 2 : 1
    words = ""
    kind = kind_of(name, value)
    if (kind == "words" || kind == "list") {
        words = found
    } else if (kind ~ /^module /) {
        words = match(text, /default:? [a-z]+/) ? substr(text, RSTART + 8, RLENGTH - 8) : ""
        gsub(/[: ]/, "", words)
        initial[section, name] = words
    } else if (kind ~ /^options /) {
        words = initial[section, substr(kind, 9)]
    }
    help = text
    sub(/[;:].*/, "", help)
    sub(/\. .*/, "", help)
    gsub(/^ +| +$/, "", help)
    print section, letter, name, count, kind, words, help
    letter = "-"
}

# kind_of NAME VALUE: sets `found` to the words of a list.
function kind_of(name, value,    base, choice) {
    found = ""
    if (value == "") return "flag"
    base = name
    sub(/-options$/, "", base)
    if (index(kinds, " " base " ") && (value == "NAME" || value ~ /^OPT/))
        return (base == name ? "module " : "options ") base
    if (value == "KIND/NAME") return "help-module"
    if (value ~ /^PID/) return name == "set" || name == "status" ? "run" : "pid"
    if (program == "sslab") {
        if (name == "workload") return "workload"
        if (value == "LIST" && name ~ /^(workloads|background|represent|check-workloads|stand-ins)$/) return "workloads"
    }
    if (match(text, /one of: [^;]*/)) {
        found = substr(text, RSTART + 8, RLENGTH - 8)
        sub(/ +$/, "", found)
        return value == "LIST" ? "list" : "words"
    }
    if (below != "") {
        found = substr(below, 2)
        return value == "LIST" ? "list" : "words"
    }
    if (program == "sstrace" && name == "from") return "formats"
    choice = value
    if (choice ~ /\|/ && choice ~ /(^|\|)[a-z]/) {
        gsub(/\|/, " ", choice)
        gsub(/[A-Z@][^ ]*/, "", choice)
        gsub(/^ +| +$/, "", choice)
        found = choice
        return "words"
    }
    if (value ~ /^(DIR|FOLDER)$/) return "folder"
    if (value ~ /(FILE|PATH|SOCKET|TRACE|DIR|FOLDER|BASE)/) return "file"
    return "any"
}

function print_operand(    kind) {
    if (section == "") return
    if (commands != "") print section, "commands", "", 0, "words", substr(commands, 2), ""
    if (formats != "") print section, "formats", "", 0, "words", substr(formats, 2), ""
    kind = operand != "" ? operand : "file"
    if (section == "ssactuate") kind = "knob"
    if (section == "ssburn kernel") kind = "kernel"
    print section, "operand", "", 0, kind, "", ""
}
