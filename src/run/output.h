/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_OUTPUT_H
#define SHOWSTOPPER_RUN_OUTPUT_H

#include <poll.h>
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

#include "loop/board.h"
#include "measure/iterations.h"

/*
 * Bytes moved at a time. Equals PIPE_BUF: a pipe that polls as writable takes them without
 * blocking.
 */
#define SS_OUTPUT_CHUNK_SIZE 4096

/* How long, in milliseconds, a stalled reader may delay the end of a run. */
#define SS_OUTPUT_PATIENCE_MS 300

/*
 * Maximum number of bytes read at the end of a run from a process that outlives it. This is the
 * default size of a pipe, so it covers what the process had written by then.
 */
#define SS_OUTPUT_DRAIN_MAX 65536

/* Size of the buffer for a line: the pattern is matched against at most one byte less. */
#define SS_OUTPUT_LINE_SIZE 4096

/* One output stream of one instance, forwarded by the master. */
struct ss_stream {
    int from;         /* our end of the pipe or pseudo-terminal; -1 if closed */
    int to;           /* where the output goes, unchanged */
    bool owns_target; /* `to` is a file that we opened */
    bool full;        /* `to` accepts no more; reading pauses until there is room */
    bool failed;      /* `to` cannot be written; what is read is dropped */
    ss_time full_since;
    ss_time waited;    /* the output's `waited` at the last read */
    ss_time busy_time; /* the output's `busy_time` at the last read */
    ss_time late;      /* total delay of reads since the last line that ended an iteration */
    uint32_t instance;
    char *chunk;        /* SS_OUTPUT_CHUNK_SIZE bytes that were read */
    const char *rest;   /* the part of it that still has to be written */
    size_t rest_length; /* length of that part, in bytes */
    uint32_t matches;   /* number of lines of the current read that ended an iteration of unknown
                           length */
    size_t length;
    bool cut;   /* the line is longer than what is kept of it */
    char *line; /* the current line so far; NULL if lines are not matched */
};

/* The output of all instances, two streams each. */
struct ss_output {
    struct ss_stream *streams;
    struct pollfd *polls; /* what each stream waits for */
    uint32_t count;
    uint32_t instances;
    const char *folder;               /* folder for the output; NULL if it is forwarded */
    int directory;                    /* descriptor of `folder`; -1 if not open */
    char *const *numbers;             /* of instances, for the names of files in `folder` */
    int out;                          /* where standard output is forwarded */
    int terminals[2];                 /* `out` and standard error, opened again so that writes to
                                         a terminal do not block; 0 if not opened */
    struct ss_stream *unfinished[2];  /* for output and error: the stream that wrote last and may
                                         not be done; NULL if none, or if each has its own file */
    bool tty;                         /* standard output is a pseudo-terminal */
    bool forwards_errors;             /* standard error is forwarded, too; else it is inherited */
    const regex_t *pattern;           /* NULL if lines are not matched */
    struct ss_iterations *iterations; /* receive the matches of `pattern`, per instance */
    const struct ss_board *board;     /* for the duties of the instances */
    ss_time (*own_wait)(void);        /* see ss_platform_own_wait(); NULL if unknown */
    ss_time waited, waited_at;        /* our total wait for a CPU at the last reading, and the time
                                         of that reading */
    ss_time busy_time;                /* total time in which the caller did not wait for output */
    ss_time busy_since;               /* when that last began; 0 if never */
    bool failed;                      /* some output could not be written */
    int err;                          /* errno of the first failure */
};

/*
 * Opens the output. The caller must have set `instances`, `folder`, `numbers`, `out`, `tty`,
 * `forwards_errors`, `pattern`, `iterations`, `board` and `own_wait`. Creates `folder` if it does
 * not exist. Fails if no pseudo-terminal can be created, or if a file that would be replaced was
 * not written by a run.
 */
SS_MUST_USE int ss_output_open(struct ss_output *output, struct ss_error *error);

/*
 * Makes the pipes of the next instance, and sets `ends` (output, error) to its ends. Does not
 * change the end of a stream that the instance inherits instead. The caller closes the ends after
 * the fork, even if this fails.
 */
SS_MUST_USE int ss_output_add(struct ss_output *output, int ends[2], struct ss_error *error);

/* Call these before and after each wait for output. Lines printed at other times are read late. */
void ss_output_wait_begins(struct ss_output *output, ss_time now);
void ss_output_wait_ends(struct ss_output *output, ss_time now);

/* Excludes a pause of the run, which has just ended, from the delays. */
void ss_output_pause(struct ss_output *output, ss_time length);

/*
 * Moves some of the pending data of stream `index` and counts iterations that end. Never blocks: a
 * stalled reader blocks only the instances that write to it. Closes the stream at its end. Returns
 * the number of bytes read.
 */
size_t ss_output_move(struct ss_output *output, uint32_t index, ss_time now);

/*
 * Moves the remaining data, as far as possible without waiting long. Does not follow a process that
 * keeps writing.
 */
void ss_output_drain(struct ss_output *output, ss_time now);

void ss_output_close(struct ss_output *output);

#endif
