/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_CHOICE_H
#define SSPROFILE_CHOICE_H

#include "results.h"

/*
 * The choice of a profile, "FILE[:MACHINE[:LIMITS]]". FILE may be a folder with a results.csv.
 * Without LIMITS, the choice is the machine without a throttle or, if the machine has only one
 * profile, that one. An existing path may contain colons, and so may the name of a machine, which
 * is compared with those in the results.
 */
struct ssprofile_choice {
    char *path;        /* owned */
    const char *names; /* MACHINE or MACHINE:LIMITS; "": the only machine. Part of the text */
};

/* Parses a choice. Free `path` even on failure. */
SS_MUST_USE SS_NONNULL(1, 2) int ssprofile_choose(
    struct ssprofile_choice *choice, const char *text, struct ss_error *error);

/*
 * Finds the chosen profile. Returns NULL if none or several match; the error lists the candidates.
 */
SS_MUST_USE SS_NONNULL(1, 2) const
    struct ssprofile_profile *ssprofile_choice_find(const struct ssprofile_choice *choice,
        const struct ssprofile_results *results, struct ss_error *error);

#endif
