/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_OUTPUT_H
#define SHOWSTOPPER_RUN_OUTPUT_H

#include <poll.h>
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

#include "measure/iterations.h"

/* How much is moved at a time: what a pipe takes without making its writer wait, if it takes any.
 */
#define SS_OUTPUT_CHUNK 4096

/* How long, in milliseconds, a reader that does not read holds up the end of a run. */
#define SS_OUTPUT_PATIENCE 300

/* How much of a line is looked at for the end of an iteration. */
#define SS_OUTPUT_LINE 4096

/* One stream of one instance on its way through our hands. */
struct ss_stream {
    int from;  /* our end of the pipe; -1: closed or passed through */
    int to;    /* where it goes, unchanged */
    bool own;  /* `to` is a file of ours */
    bool full; /* `to` takes no more: its reader must read first, until then we do not */
    uint32_t instance;
    size_t length;
    char *line; /* the present line as far as it has come; NULL: nobody wants lines */
};

/* The output of all instances: two streams to each. */
struct ss_output {
    struct ss_stream *streams;
    struct pollfd *polls; /* what each stream waits for */
    uint32_t count;
    uint32_t instances;
    const char *folder;      /* NULL: forwarded */
    const regex_t *pattern;  /* NULL: lines are not looked at */
    ss_time *last_iteration; /* of each instance; when its previous one ended */
    bool failed;             /* something could not be written */
    int why;                 /* errno of that */
};

/* `folder` is created if need be. */
int ss_output_open(struct ss_output *output, uint32_t instances, const char *folder,
    const regex_t *pattern, struct ss_error *error);

/*
 * Makes the pipes of one instance; the ends for the instance are in `ends` (output, errors), to
 * be closed here once they have been inherited.
 */
int ss_output_add(
    struct ss_output *output, const char *number, int ends[2], struct ss_error *error);

/* The instance began now: its first iteration does too. */
void ss_output_began(struct ss_output *output, uint32_t instance, ss_time now);

/*
 * Moves some of what there is of one stream; iterations that end are counted. Waits for nobody: a
 * reader that does not read holds up the instances that write, and nothing else.
 */
void ss_output_move(
    struct ss_output *output, uint32_t stream, ss_time now, struct ss_iterations *iterations);

/* Moves all that is left, as far as it can be had, and got rid of, without much waiting. */
void ss_output_drain(struct ss_output *output, ss_time now, struct ss_iterations *iterations);

void ss_output_close(struct ss_output *output);

#endif
