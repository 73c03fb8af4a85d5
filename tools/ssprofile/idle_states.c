/* SPDX-License-Identifier: Apache-2.0 */
#include "idle_states.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "base/owned.h"

/* The kernel applies the latency, in microseconds, as long as the file is open. */
int ssprofile_idle_states_hold(const char *path) {
    static const int32_t none = 0;
    SS_OWNED(close) int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, &none, sizeof none) != (ssize_t)sizeof none)
        return -1;
    return ss_owned_take(&file);
}
