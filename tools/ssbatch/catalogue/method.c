/* SPDX-License-Identifier: Apache-2.0 */
#include "planned_run.h"

#include <math.h>
#include <string.h>

#include "base/suggest.h"

/* All methods measure idle time, as published figures do, so that errors can be compared. */
#define REALTIME    "-f realtime{realtime}"
#define UNLIMITED   "-c fixed -C duty=100%"
#define CONSTANT    "-d averageq -D {tau}{cdc} -c fixed -s even"
#define INDEPENDENT "-d averageq -D {tau},jitter=50%{cdc} -c fixed -s even"
#define RBPID(name) "-d averageq -D {tau} -c rbpid{pi} -s " name
#define GEOM(name)  "-d averageq -D {tau} -c geom{geom} -s " name

/*
 * Added before rounding, because the product of a load and a number of CPUs may be slightly below a
 * half.
 */
#define ROUNDING 1e-9

static const struct ssbatch_method methods[] = {
    {"nbench", REALTIME, UNLIMITED, .copies = SSBATCH_COPIES_WHOLE},
    {"nbench-fit", REALTIME, UNLIMITED, .copies = SSBATCH_COPIES_MEASURED},
    {"cdc", REALTIME, CONSTANT},
    {"1cdc", REALTIME, CONSTANT, .copies = SSBATCH_COPIES_ONE},
    {"1cdc-4s", REALTIME, "-d averageq -D 4s -c fixed -s even", .copies = SSBATCH_COPIES_ONE},
    {"independent", REALTIME, INDEPENDENT},
    {"stagger", REALTIME, "-d stagger -c fixed -s even"},
    {"pi-even", REALTIME, RBPID("even")},
    {"pi-uneven", REALTIME, RBPID("uneven")},
    {"geom-even", REALTIME, GEOM("even")},
    {"geom-uneven", REALTIME, GEOM("uneven")},
    {"default", "-f exact -F source=idle", ""},
    {"cpulimit", REALTIME, UNLIMITED, .limiter = SSBATCH_LIMITER_CPULIMIT},
    {"quota", REALTIME, UNLIMITED, .limiter = SSBATCH_LIMITER_GROUP},
    {"uncontrolled", REALTIME, UNLIMITED},
};

const struct ssbatch_method *ssbatch_method_find(const char *name, struct ss_error *error) {
    static const struct ss_suggest_names known = {"method", SS_SUGGEST_ROWS(methods), NULL};
    int found = ss_suggest_find(&known, name, error);
    return found < 0 ? NULL : &methods[found];
}

bool ssbatch_method_has_rounds(const struct ssbatch_method *method) {
    return strstr(method->modules, "{tau}") != NULL;
}

/* Rounds to at least 1. */
static uint64_t round_copies(double number) {
    return number < 1 ? 1 : (uint64_t)(number + 0.5);
}

uint64_t ssbatch_control_instances(const struct ssbatch_control *control) {
    switch (control->method->copies) {
    case SSBATCH_COPIES_ONE:
        return 1;
    case SSBATCH_COPIES_WHOLE:
        return round_copies(control->target * (double)control->cpus + ROUNDING);
    case SSBATCH_COPIES_MEASURED:
        return round_copies(control->target / control->one);
    case SSBATCH_COPIES_GIVEN:
        break;
    }
    return control->instances;
}

double ssbatch_control_stands_for(const struct ssbatch_control *control) {
    double instances = (double)ssbatch_control_instances(control);
    if (control->method->copies == SSBATCH_COPIES_WHOLE)
        return instances / (double)control->cpus;
    if (control->method->copies == SSBATCH_COPIES_MEASURED)
        return fmin(instances * control->one, 1);
    return NAN;
}

void ssbatch_put_parts(
    FILE *stream, const char *text, const struct ssbatch_part *parts, size_t count) {
    while (*text) {
        size_t length = 0;
        for (size_t i = 0; length == 0 && i < count; i++) {
            if (strncmp(text, parts[i].name, strlen(parts[i].name)) != 0)
                continue;
            length = strlen(parts[i].name);
            if (parts[i].text)
                fprintf(stream, "%s%s", parts[i].before, parts[i].text);
        }
        if (length == 0 && text[0] == '{' && text[1] == '{')
            fputc(*text++, stream);
        if (length == 0)
            fputc(*text, stream);
        text += length > 0 ? length : 1;
    }
}

void ssbatch_control_print(FILE *stream, const struct ssbatch_control *control) {
    const struct ssbatch_part parts[] = {
        {"{tau}", "", control->tau},
        {"{cdc}", ",", control->cdc},
        {"{pi}", " -C ", control->pi},
        {"{geom}", " -C ", control->geom},
        {"{realtime}", " -F ", control->realtime},
    };
    const char *const options[] = {
        control->feedback ? control->feedback : control->method->feedback,
        control->method->modules,
    };
    for (size_t i = 0; i < 2; i++) {
        if (*options[i])
            fputc(' ', stream);
        ssbatch_put_parts(stream, options[i], parts, sizeof parts / sizeof *parts);
    }
}
