/* SPDX-License-Identifier: Apache-2.0 */
#include "base/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

void ss_streams_open_missing(void) {
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

int ss_streams_open_unblocked(int file) {
    char path[32];
    if (!isatty(file))
        return -1;
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

bool ss_streams_write_all(int file, const void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t written = write(file, (const char *)bytes + done, size - done);
        if (written < 0 && errno != EINTR)
            return false;
        done += written > 0 ? (size_t)written : 0;
    }
    return true;
}

off_t ss_streams_copy(int from, int to, off_t max) {
    char chunk[65536];
    off_t sum = 0;
    for (;;) {
        ssize_t length = read(from, chunk, sizeof chunk);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return length < 0 ? -1 : sum;

        sum += length;
        if (sum > max) {
            errno = EFBIG;
            return -1;
        }

        if (!ss_streams_write_all(to, chunk, (size_t)length))
            return -1;
    }
}

void ss_streams_close_pair(const int ends[2]) {
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
    }
}

const char *ss_streams_explain(int err) {
    return err == EBADF ? "closed: the output is lost" : err ? strerror(err) : "write error";
}

/* ss_streams_open_missing() has replaced a closed stream with one that cannot be written. */
int ss_streams_check_output(struct ss_error *error) {
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
        return 0;
    return ss_error_fail(error, SS_STREAMS_LOST_PREFIX "%s", ss_streams_explain(EBADF));
}

/*
 * The last flush may succeed although an earlier write failed and discarded its output; ferror()
 * still reports that.
 */
int ss_streams_flush(struct ss_error *error) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    return ss_error_fail(error, SS_STREAMS_LOST_PREFIX "%s", ss_streams_explain(errno));
}
