# SPDX-License-Identifier: Apache-2.0
# Reads the help of one program, and prints its commands: the first words of its usage, and the lines below
# "Commands:" or "Classes:".
/^@/ { program = substr($0, 2); next }
/^(Usage:|      ) / && usage != "over" {
    usage = "read"
    line = $0
    sub(/^(Usage:)? */, "", line)
    split(line, words, " ")
    if (words[1] == program && words[2] ~ /^[a-z]+(\|[a-z]+)*$/) {
        count = split(words[2], names, "|")
        for (i = 1; i <= count; i++)
            add(names[i])
    }
    next
}
usage == "read" { usage = "over" }
/^(Commands|Classes|Experiments|For a plan of your own, by ssbatch):$/ { list = 1; next }
list && /^  [a-z]+ / { add($1); next }
list && !/^   / { list = 0 }

function add(name) {
    if (!(name in known))
        print name
    known[name] = 1
}
