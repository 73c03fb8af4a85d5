/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSGUEST_GUEST_H
#define SSGUEST_GUEST_H

#include <stdint.h>
#include <sys/types.h>

#include <showstopper/error.h>

/* A guest that was started, and the options for running its command. */
struct ssguest_drive_options {
    const char *folder;     /* folder of the run, with control.in, control.out and logs */
    uint64_t qemu_pid;      /* pid of qemu */
    uint64_t caller_pid;    /* pid of a process; the run ends when this process exits */
    uint64_t vcpus;         /* number of virtual CPUs */
    const char *pins;       /* list of CPUs for the virtual CPUs; NULL: not pinned */
    uint64_t grace;         /* seconds that the command may take to exit after a signal */
    const char *clock;      /* file for the differences of the clocks; NULL: not requested */
    const char *vcpu_times; /* file for the CPU time of the virtual CPUs; NULL: not requested */
};

/*
 * Sets the guest's clock, runs the command, and turns the guest off. Passes SIGINT on, and SIGTERM
 * or SIGHUP as SIGTERM. Sets `status` to that of the command or, if a signal or the exit of the
 * caller ends the run first, to 130 for SIGINT and 143 otherwise. The guest must run
 * ssguest_serve().
 */
SS_MUST_USE SS_NONNULL() int ssguest_drive(
    const struct ssguest_drive_options *options, int *status, struct ss_error *error);

/*
 * The first process of a guest. Executes the requests of ssguest_drive(), which arrive over the
 * first port, one per line:
 *
 *     clock         answers `clock` with the time
 *     shift MICROS  sets the clock by that many microseconds, then answers with the time
 *     run           starts the command, whose output goes to the other two ports; answers `status`
 *                   when it exits
 *     INT, TERM     sends the command this signal
 *     off           turns the guest off; meanwhile sends `left` while there is output to pass on
 *
 * At the start it sends `missing FOLDER` if a shared folder is missing, and `ready`.
 */
struct ssguest_serve_options {
    const char *ports;   /* path of the ports without the number */
    const char *missing; /* a shared folder that is missing; NULL if all are present */
    char *const *command;
};

SS_MUST_USE SS_NONNULL() int ssguest_serve(
    const struct ssguest_serve_options *options, struct ss_error *error);

#endif
