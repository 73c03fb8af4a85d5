/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_DUET_WORDS_H
#define SSREPORT_DUET_WORDS_H

#include "duet_study.h"

/* Question and answer of a study, as sentences, and what --decide prints. */

/* Size limit of each sentence. */
#define DUET_TEXT 600

SS_NONNULL() SS_WRITES(2, 3) void duet_ask(const struct duet_study *study, char *text, size_t size);

/* Writes "B is 1.8 % (1.1 to 2.5) slower than A beside h2 at 60 %; A against A: ...". */
SS_NONNULL()
SS_WRITES(2, 3) void duet_answer(const struct duet_study *study, char *text, size_t size);

/* Writes how much was measured, as "15 blocks of four runs". */
SS_NONNULL()
SS_WRITES(2, 3) void duet_describe_size(const struct duet_study *study, char *text, size_t size);

/* Writes how many blocks of a comparison lack a figure, and names a run. */
SS_NONNULL()
SS_WRITES(3, 4)
void duet_describe_lack(
    const struct duet_study *study, const struct duet_blocks *blocks, char *text, size_t size);

/* Writes why the answer is doubtful, or an empty text. */
SS_NONNULL()
SS_WRITES(2, 3) void duet_doubt(const struct duet_study *study, char *text, size_t size);

/* Exit status of ssreport --decide. */
enum duet_status {
    DUET_STATUS_DONE = 0,      /* decided; with a limit, B is worse by less than the limit */
    DUET_STATUS_FAILED = 1,    /* B is worse by more than the limit */
    DUET_STATUS_CONTINUES = 2, /* more blocks are needed */
    DUET_STATUS_UNDECIDED = 3, /* no more blocks follow, but the limit is inside the interval,
                                  or all records are invalid */
};

SS_NONNULL() enum duet_status duet_status_of(const struct duet_study *study);

/* Prints the answer on one line, and reasons to doubt it on another. */
SS_NONNULL() void duet_print(FILE *stream, const struct duet_study *study);

/* Prints one line of Markdown that names the commands. */
SS_NONNULL() void duet_print_markdown(FILE *stream, const struct duet_study *study);

#endif
