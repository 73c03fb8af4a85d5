/* SPDX-License-Identifier: Apache-2.0 */
#include "base/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void ss_streams_occupy(void) {
    int file;
    do
        file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (file >= 0 && file <= STDERR_FILENO);
    if (file >= 0)
        close(file);
}

bool ss_streams_has_room(int file) {
    struct pollfd room = {.fd = file, .events = POLLOUT};
    return poll(&room, 1, 0) > 0;
}

/*
 * The last flush may succeed although an earlier write has failed and discarded its output:
 * ferror() still reports that.
 */
int ss_streams_flush(struct ss_error *error) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    return ss_error_fail(error, SS_STREAMS_LOST "%s",
        errno == EBADF ? "closed: the output is lost"
        : errno        ? strerror(errno)
                       : "write error");
}
