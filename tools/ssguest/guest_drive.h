/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSGUEST_GUEST_DRIVE_H
#define SSGUEST_GUEST_DRIVE_H

#include <stdint.h>
#include <sys/types.h>

#include <showstopper/error.h>

/* A guest that was started, and the options for running its command. */
struct ssguest_driven {
    const char *folder;     /* folder of the run, with control.in, control.out and logs */
    uint64_t machine;       /* pid of qemu */
    uint64_t caller;        /* pid of a process; the run ends when this process exits */
    uint64_t vcpus;         /* number of virtual CPUs */
    const char *pins;       /* list of CPUs for the virtual CPUs; NULL: not pinned */
    uint64_t grace;         /* seconds that the command may take to exit after a signal */
    const char *clock;      /* file for the differences of the clocks; NULL: not requested */
    const char *vcpu_times; /* file for the CPU time of the virtual CPUs; NULL: not requested */
};

/*
 * Sets the guest's clock, runs the command, passes SIGINT and SIGTERM on, and turns the guest off.
 * Sets `status` to the status of the command, or to 128 plus the number of the signal. The guest
 * must run ssguest_serve().
 */
SS_MUST_USE SS_NONNULL() int ssguest_drive(
    const struct ssguest_driven *driven, int *status, struct ss_error *error);

#endif
