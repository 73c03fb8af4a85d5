/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_SPAWNER_H
#define SSBATCH_SPAWNER_H

#include <stdint.h>
#include <sys/types.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

/*
 * Starts, watches and ends commands, and reads the clocks: everything that a run needs from the
 * system. batch_crew.h has the real one; tests supply their own.
 */

struct ssbatch_command {
    char *const *words;
    int output, error_output; /* descriptors; the standard input is empty */
    const char *folder;       /* the command's current folder */
    const char *scratch;      /* its temporary files go to SCRATCH/tmp; NULL: TMPDIR is unchanged */
};

enum ssbatch_life {
    SSBATCH_RUNS,
    SSBATCH_ENDED, /* the command has exited, but processes that it started may live */
    SSBATCH_GONE,  /* neither the command nor any of its processes is left */
};

struct ssbatch_state {
    enum ssbatch_life life;
    pid_t pid;
    int status;       /* once the command has ended: its exit status, or 128 + N for signal N */
    int signal;       /* the signal that ended it; 0: none */
    ss_time cpu_time; /* once it is gone: CPU time of the command and its descendants */
};

struct ssbatch_spawner {
    void *context;

    /* Starts a command. Returns its number, or -1 if it could not be executed. */
    int (*start)(void *context, const struct ssbatch_command *command, struct ss_error *error);

    struct ssbatch_state (*get_state)(void *context, int number);

    /*
     * Begins to end a command and its descendants. Sends SIGTERM to the command's process group
     * and, after `grace`, SIGKILL to the command alone. Then its descendants get SIGTERM and, when
     * guardians among them have had time to finish, SIGKILL.
     */
    void (*end)(void *context, int number, ss_time grace);

    /* Releases the number of a command that is gone. */
    void (*forget)(void *context, int number);

    /* Ends the descendants of commands whose minder was killed. */
    void (*end_orphans)(void *context);

    /*
     * Sleeps until `deadline` or an event. Returns 0 or, in this and all later calls, the signal
     * that interrupted the study.
     */
    int (*wait)(void *context, ss_time deadline);

    ss_time (*now)(void *context);
    int64_t (*wallclock)(void *context);

    /* Returns the CPU time that a command and its descendants have used so far. */
    ss_time (*cpu_time)(void *context, int number);

    /* Returns the CPU time that the whole machine has used so far; SS_TIME_NEVER if unknown. */
    ss_time (*machine_time)(void *context);
    double cpus; /* number of CPUs of the machine; 0 if unknown */
};

#endif
