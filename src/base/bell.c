/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bell.h"

#include <unistd.h>

void ss_bell_ring(int bell) {
    if (write(bell, "", 1) < 0)
        return; /* the reader is dead, or awake already because the pipe is full */
}

void ss_bell_drain(int bell) {
    char bytes[512];
    while (read(bell, bytes, sizeof bytes) == sizeof bytes) {
    }
}
