/* SPDX-License-Identifier: Apache-2.0 */
#include "levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

/*
 * Returns the level of an actuator, such as "pin=free". If absent, returns "instances=1" for
 * instances, otherwise "".
 */
static struct ss_words_part find_level(const char *knobs, const char *name) {
    struct ss_words_part part;
    while (ss_words_next(&knobs, '+', &part)) {
        if (part.length > strlen(name) && strncmp(part.text, name, strlen(name)) == 0 &&
            strchr("=@", part.text[strlen(name)]))
            return part;
    }
    part.text = strcmp(name, "instances") == 0 ? "instances=1" : "";
    part.length = strlen(part.text);
    return part;
}

const char *ssreport_levels_knob(
    const struct ssreport_responses *one, const struct ssreport_responses *other) {
    static const char *const names[] = {
        "frequency", "pin", "instances", "cpus", "quota", "memory", "duty", "power", "workers"};
    const char *found = NULL;
    for (size_t i = 0; one->knobs && other->knobs && i < sizeof names / sizeof *names; i++) {
        struct ss_words_part left = find_level(one->knobs, names[i]);
        struct ss_words_part right = find_level(other->knobs, names[i]);
        if (left.length == right.length && strncmp(left.text, right.text, left.length) == 0)
            continue;
        if (found)
            return NULL;
        found = names[i];
    }
    return found;
}

bool ssreport_levels_are_one_step(
    const struct ssreport_responses *one, const struct ssreport_responses *other) {
    bool is_level = ssreport_is_same(one->knobs, other->knobs);
    if (!one->knobs || !other->knobs)
        return true;
    return !is_level + !ssreport_is_same(one->balance, other->balance) +
                   (ssreport_compare_numbers(one->cap, other->cap) != 0) ==
               1 &&
           (is_level || ssreport_levels_knob(one, other));
}

/* Returns the frequency in Hz at the beginning of a level such as "1.4GHz,turbo=off". */
static double read_frequency(const char *text) {
    char *end;
    double number = strtod(text, &end);
    if (strncmp(text, "min", 3) == 0)
        return 0;
    if (strncmp(text, "max", 3) == 0)
        return SSREPORT_UNLIMITED;
    return end == text ? NAN : number * (*end == 'G' ? 1e9 : *end == 'M' ? 1e6 : 1);
}

double ssreport_levels_amount(const struct ssreport_responses *of, const char *knob) {
    struct ss_words_part level = find_level(of->knobs ? of->knobs : "", knob);
    const char *text = level.length > 0 ? memchr(level.text, '=', level.length) : NULL;
    bool is_absent = !text || strncmp(text, "=none", 5) == 0;
    char *end;
    if (strcmp(knob, "pin") == 0)
        return !text || strncmp(text, "=free", 5) == 0;
    if (strcmp(knob, "frequency") == 0)
        return text ? read_frequency(text + 1) : SSREPORT_UNLIMITED;
    double number = is_absent ? SSREPORT_UNLIMITED : strtod(text + 1, &end);
    return is_absent || end > text + 1 ? number : NAN;
}

double ssreport_levels_pinned(const struct ssreport_responses *of) {
    struct ss_words_part level = find_level(of->knobs, "pin");
    const char *colon = level.length > 0 ? memchr(level.text, ':', level.length) : NULL;
    return colon ? strtod(colon + 1, NULL) : NAN;
}
