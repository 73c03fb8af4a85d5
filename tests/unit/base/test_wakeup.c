/* SPDX-License-Identifier: Apache-2.0 */
#include "base/wakeup.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "unit.h"

/* More rings than a pipe holds; neither function blocks. */
TEST(any_number_of_rings_is_drained) {
    static const long rings[] = {0, 1, 512, 513, 200000};
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        char byte;
        for (long ring = 0; ring < rings[i]; ring++)
            ss_wakeup_send(ends[1]);
        ss_wakeup_drain(ends[0]);
        assert_int_equal(read(ends[0], &byte, 1), -1);
        assert_int_equal(errno, EAGAIN);
    }
    close(ends[0]);
    close(ends[1]);
}

UNIT_RUN
