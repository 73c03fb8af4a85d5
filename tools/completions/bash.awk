# SPDX-License-Identifier: Apache-2.0
# Prints rows of rows.awk as the function _showstopper_rows.
BEGIN {
    FS = "\t"
    print "_showstopper_rows() {\n    case $1 in"
}
$1 != section {
    if (section != "") print "END\n        ;;"
    section = $1
    print "    '" section "')\n        cat <<'END'"
}
{ print $2, ($3 == "" ? "-" : "--" $3), $4, $5, $6 }
END { print "END\n        ;;\n    *) return 1 ;;\n    esac\n}" }
