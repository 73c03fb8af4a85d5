/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSGUEST_GUEST_DRIVE_H
#define SSGUEST_GUEST_DRIVE_H

#include <stdint.h>
#include <sys/types.h>

#include <showstopper/error.h>

/* A guest that was started, and what to do with it. */
struct ssguest_driven {
    const char *folder;     /* of the run: control.in and control.out, and logs */
    uint64_t machine;       /* pid of qemu */
    uint64_t caller;        /* pid of the process that must not end before the command does */
    uint64_t vcpus;         /* how many virtual CPUs it has */
    const char *pins;       /* the list of CPUs that these are pinned to; NULL: not pinned */
    uint64_t grace;         /* seconds that the command may take to end after a signal */
    const char *clock;      /* receives how far the clocks are apart; NULL: not requested */
    const char *vcpu_times; /* receives the CPU time of the virtual CPUs; NULL: not requested */
};

/*
 * Sets the guest's clock, runs its command, passes SIGINT and SIGTERM on, and turns the guest off.
 * `status` becomes that of the command, or 128 and the number of the signal. guest_serve.h has the
 * other end.
 */
SS_MUST_USE SS_NONNULL() int ssguest_drive(
    const struct ssguest_driven *driven, int *status, struct ss_error *error);

#endif
