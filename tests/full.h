/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_FULL_H
#define SHOWSTOPPER_TESTS_FULL_H

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns whether writing to /dev/full fails as on a full disk. In some containers it is a file. */
static inline bool full_is_a_device(void) {
    struct stat status;
    return stat("/dev/full", &status) == 0 && S_ISCHR(status.st_mode) &&
           access("/dev/full", W_OK) == 0;
}

#define SKIP_UNLESS_FULL() SKIP_UNLESS(full_is_a_device(), "dev-full: /dev/full is not a device")

#endif
