/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_DUET_WORDS_H
#define SSREPORT_DUET_WORDS_H

#include "duet_study.h"

/* Question and answer of a study, as sentences. */

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

#endif
