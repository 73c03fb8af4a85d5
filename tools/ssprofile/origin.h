/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_ORIGIN_H
#define SSPROFILE_ORIGIN_H

/* The origin of a table of results: ssprofile measure writes additional files next to it. */

#include <stdbool.h>

#include <showstopper/error.h>

/* The layout of profile.json and calibrate.json. */
#define SSPROFILE_SCHEMA 1

struct ssprofile_origin {
    bool measured;     /* ssprofile measure made the table */
    char version[300]; /* version of the benchmarks; empty if unknown */
};

SS_NONNULL() struct ssprofile_origin ssprofile_origin_of(const char *results_path);

/*
 * Returns the path of another file in the folder of `path`. free() the result; NULL if memory is
 * exhausted.
 */
SS_MUST_USE SS_NONNULL() char *ssprofile_beside(const char *path, const char *name);

#endif
