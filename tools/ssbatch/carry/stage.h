/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_STAGE_H
#define SSBATCH_STAGE_H

#include "act.h"

/*
 * Prepares the lines. Replaces the placeholders of each `after` now, because it may have to run
 * when nothing else ran. The caller has set the public members. Free the stage even on failure.
 */
SS_MUST_USE SS_NONNULL(1) int ssbatch_stage_open(
    struct ssbatch_stage *stage, struct ss_error *error);

/* Writes the lines of a journal that undo this stage. */
SS_NONNULL() void ssbatch_stage_print_journal(const struct ssbatch_stage *stage, FILE *stream);

/* Carries out every line but `after`s. Returns -1 with the reason in `why`. */
SS_NONNULL() int ssbatch_stage_run(struct ssbatch_stage *stage);

/*
 * Ends running commands and carries out each `after`. Sets `why` only if the run had not failed
 * before.
 */
SS_NONNULL() void ssbatch_stage_end(struct ssbatch_stage *stage);

/* Removes the files with the output of commands that have printed nothing. */
SS_NONNULL() void ssbatch_stage_remove_empty_output(const struct ssbatch_stage *stage);

/* Returns the CPU time that all commands and their descendants have used so far. */
SS_NONNULL() ss_time ssbatch_stage_cpu_time(const struct ssbatch_stage *stage);

SS_NONNULL() void ssbatch_stage_free(struct ssbatch_stage *stage);

/*
 * Carries out one `after` of a journal, in at most SSBATCH_AFTER_LIMIT. `ok` lists the exit
 * statuses that mean success, such as "0,1".
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_run_after(struct ssbatch_spawner *spawner,
    const struct ssbatch_command *command, const char *ok, struct ss_error *error);

#define SSBATCH_GRACE       (10 * SS_SECOND)
#define SSBATCH_AFTER_LIMIT (120 * SS_SECOND)

#endif
