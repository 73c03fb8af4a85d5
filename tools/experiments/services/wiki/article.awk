# SPDX-License-Identifier: Apache-2.0
# Prints the article of services/mediawiki, in wiki markup, which ends with `last`. It is always the same: its random
# numbers come from the Park-Miller generator, because rand() differs between versions of awk.
function random(n) {
    state = state * 16807 % 2147483647
    return state % n
}
function word(    text, i) {
    text = ""
    for (i = random(3) + 1; i > 0; i--)
        text = text syllable[random(syllables) + 1]
    return text
}
function capital(text) {
    return toupper(substr(text, 1, 1)) substr(text, 2)
}
function term(    kind) {
    kind = random(24)
    if (kind == 0)
        return "[[" capital(word()) " " word() "]]"
    if (kind == 1)
        return "''" word() "''"
    if (kind == 2)
        return "'''" word() "'''"
    if (kind == 3)
        return "[[#Part " (random(60) + 1) "|" word() "]]"
    return word()
}
function sentence(    text, i) {
    text = capital(word())
    for (i = random(14) + 6; i > 0; i--)
        text = text " " term()
    return text "."
}
function paragraph(    text, i) {
    text = sentence()
    for (i = random(4) + 3; i > 0; i--)
        text = text " " sentence()
    return text
}
BEGIN {
    state = 20
    syllables = split("ba ce di fo gu la me ni po ru sa te vi no xu al en ir os ut", syllable, " ")
    print paragraph()
    for (part = 1; part <= 60; part++) {
        print "\n== Part " part " ==\n" paragraph() "\n"
        print paragraph() "\n"
        for (i = 0; i < 5; i++)
            print "* " sentence()
        print "\n=== Figures of part " part " ===\n{| class=\"wikitable\"\n! " word() " !! " word() " !! " word()
        for (i = 0; i < 8; i++)
            print "|-\n| " term() " || " random(10000) " || " random(100) " %"
        print "|}\n" paragraph()
    }
    print "\n" last
}
