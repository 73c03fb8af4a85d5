/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_OPTION_H
#define SHOWSTOPPER_OPTION_H

#include <stddef.h>
#include <stdint.h>

#include <showstopper/time.h>

/*
 * One row declares one option: parsing, range check, help and the plan's listing come from it. An
 * option that is neither given nor has a default is NaN (a double), SS_TIME_NEVER, NULL, -1 (a
 * choice) or 0 (a count). The type determines the field at `offset` in the configuration:
 *
 *   SS_OPTION_TIME    ss_time       20s, 107ms, 1/3s, 2min
 *   SS_OPTION_LOAD    double        0.6, 6/10 or 60%, all stored as 0.6; 2 to 100 without a unit
 *                                   is in percent; in a trace module also 0.5cpu, a number of CPUs
 *   SS_OPTION_COUNT   uint64_t      a whole number
 *   SS_OPTION_NUMBER  double        a decimal or a fraction
 *   SS_OPTION_CHOICE  int           the position of the word in `choices`
 *   SS_OPTION_TEXT    const char *  any text; NULL if it is not given and has no default.
 *                                   Owned by the core, valid until the module is released.
 *   SS_OPTION_FILE    const char *  the path of a file that prepare() reads as a whole, once. A
 *                                   record of the run keeps a copy of the file, and a replay
 *                                   reads that. Otherwise as SS_OPTION_TEXT.
 *   SS_OPTION_PERCENT double        a decimal or a fraction, with or without %: 5 and 5% are 5
 */
enum ss_option_type {
    SS_OPTION_TIME,
    SS_OPTION_LOAD,
    SS_OPTION_COUNT,
    SS_OPTION_NUMBER,
    SS_OPTION_CHOICE,
    SS_OPTION_TEXT,
    SS_OPTION_PERCENT,
    SS_OPTION_FILE,
};

struct ss_option {
    const char *name;
    enum ss_option_type type;
    size_t offset;        /* offset in the configuration, from offsetof() */
    const char *initial;  /* the default, as a user would write it, or NULL */
    const char *min;      /* smallest allowed value, as a user would write it, or NULL */
    const char *max;      /* likewise the largest */
    const char *choices;  /* SS_OPTION_CHOICE: the words, separated by spaces */
    const char *help;     /* one line, without a period at the end */
    int required;         /* the run is refused without this option */
    const char *sensible; /* SS_OPTION_TIME: warn of smaller values in `m` (milliseconds), which
                             were probably meant in minutes; as a user would write it, or NULL */
    int scales; /* SS_OPTION_TIME: the default is for SS_WINDOW_DEFAULT and scales with the window
                   of the run */
};

/* The size of the field that an option of this type sets. */
#define SS_OPTION_SIZE(type)                                                                       \
    ((type) == SS_OPTION_CHOICE                                ? sizeof(int)                       \
        : (type) == SS_OPTION_TEXT || (type) == SS_OPTION_FILE ? sizeof(const char *)              \
                                                               : sizeof(uint64_t))

/*
 * The offset of a field. Does not compile if the size of the field is not that of the type: setting
 * the option would overwrite the next field.
 */
#define SS_OPTION_OFFSET(type, container, field)                                                   \
    (offsetof(container, field) +                                                                  \
        0 * sizeof(char[sizeof(((container *)0)->field) == SS_OPTION_SIZE(type) ? 1 : -1]))

/*
 * A row for the option `id` of type SS_OPTION_`kind`, which sets `field` of the module's `struct
 * config`. The other members follow as in an initializer: .initial = "20s".
 */
#define SS_OPTION(id, kind, field, ...)                                                            \
    {                                                                                              \
        .name = id, .type = SS_OPTION_##kind,                                                      \
        .offset = SS_OPTION_OFFSET(SS_OPTION_##kind, struct config, field), __VA_ARGS__            \
    }

#define SS_OPTION_END                                                                              \
    { .name = NULL }

#endif
