/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_FORWARDED_H
#define SSPROFILE_FORWARDED_H

/* Options of measure that other commands accept and pass on. measure checks their values. */

#include <stddef.h>

#include <showstopper/contract.h>

struct ssprofile_forwarded {
    const char *only, *time, *cpu, *repetitions, *period, *quantum, *root; /* NULL: not given */
    int idle_states, quiet;
};

#define SSPROFILE_FORWARDED_AT(type, field, member)                                                \
    .offset = offsetof(type, field) + offsetof(struct ssprofile_forwarded, member)

/* Rows of these options. `type` has a struct ssprofile_forwarded named `field`. */
// clang-format off
#define SSPROFILE_FORWARDED(type, field)                                                           \
    {0, "LIST", {"benchmarks", SS_OPTION_TEXT, SSPROFILE_FORWARDED_AT(type, field, only),          \
        .help = "measure only benchmarks with these names: shell patterns, separated by commas"}},      \
    {0, "TIME", {"time", SS_OPTION_TEXT, SSPROFILE_FORWARDED_AT(type, field, time),                 \
        .help = "run each kernel of ssburn for this long"}},                                       \
    {0, "CPU", {"cpu", SS_OPTION_TEXT, SSPROFILE_FORWARDED_AT(type, field, cpu),                   \
        .help = "measure on this CPU; default: the first one that may be used"}},                        \
    {0, "N", {"repetitions", SS_OPTION_TEXT, SSPROFILE_FORWARDED_AT(type, field, repetitions),     \
        .help = "run every benchmark this many times; default: 5"}},                                          \
    {0, "TIME", {"period", SS_OPTION_TEXT, SSPROFILE_FORWARDED_AT(type, field, period),            \
        .help = "the period of a quota; default: 10m"}},                                           \
    {0, "TIME", {"quantum", SS_OPTION_TEXT, SSPROFILE_FORWARDED_AT(type, field, quantum),          \
        .help = "the length of one run and one stop of duty and load; default: 50m"}},             \
    {0, "DIR", {"root", SS_OPTION_TEXT, SSPROFILE_FORWARDED_AT(type, field, root),                 \
        .help = "set the frequency of the machine whose /proc, /sys and /run are in DIR"}},        \
    {0, NULL, {"idle-states", SSPROFILE_FORWARDED_AT(type, field, idle_states),                    \
        .help = "leave idle states of CPUs as they are"}},                                         \
    {'q', NULL, {"quiet", SSPROFILE_FORWARDED_AT(type, field, quiet),                              \
        .help = "print no progress"}}
// clang-format on

#define SSPROFILE_FORWARDED_WORDS 16

/* Writes the words of these options, and returns their number. */
SS_NONNULL()
size_t ssprofile_forward(
    const struct ssprofile_forwarded *options, char *words[SSPROFILE_FORWARDED_WORDS]);

#endif
