/* SPDX-License-Identifier: Apache-2.0 */
#include "burn.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/streams.h"
#include "platform/platform.h"

/* Writes a line with one call, so that lines of instances on one pipe do not mix. */
static int print_line(const char *line, struct ss_error *error) {
    size_t left = strlen(line);
    while (left > 0) {
        ssize_t written = write(STDOUT_FILENO, line, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return ss_error_fail(error, SS_STREAMS_LOST_PREFIX "%s", ss_streams_explain(errno));
        line += written;
        left -= (size_t)written;
    }
    return 0;
}

int tally_begin(struct tally *tally, uint64_t work, struct ss_error *error) {
    char line[64];
    snprintf(line, sizeof line, "# work %" PRIu64 "\n", work);
    int result = print_line(line, error);
    tally->began = ss_platform_now();
    return result;
}

int tally_count(struct tally *tally, struct ss_error *error) {
    ss_time now = ss_platform_now();
    double milliseconds = 1e3 * ss_time_seconds(ss_time_since(now, tally->began));
    tally->began = now;
    tally->done++;

    char line[96];
    snprintf(line, sizeof line, "iteration %" PRIu64 " %.3f ms\n", tally->done, milliseconds);
    if (print_line(line, error) < 0)
        return -1;
    return tally->done < tally->requested;
}
