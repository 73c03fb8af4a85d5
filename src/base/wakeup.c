/* SPDX-License-Identifier: Apache-2.0 */
#include "base/wakeup.h"

#include <unistd.h>

void ss_wakeup_send(int end) {
    if (write(end, "", 1) < 0)
        return; /* the reader is dead, or the pipe is full and wakes it anyway */
}

void ss_wakeup_drain(int end) {
    char bytes[512];
    while (read(end, bytes, sizeof bytes) == sizeof bytes) {
    }
}
