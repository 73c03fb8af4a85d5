/* SPDX-License-Identifier: Apache-2.0 */
#include "base/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/owned.h"
#include "base/paths.h"

int ss_input_open(int folder, const char *path, off_t max, struct ss_error *error) {
    struct stat status;
    SS_OWNED(close)
    int file = openat(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (file < 0 || fstat(file, &status) < 0)
        return ss_paths_fail(path, error);
    if (!S_ISREG(status.st_mode)) {
        ss_error_fail(error, "%s: not a regular file: remove or replace it", path);
        errno = EINVAL;
        return -1;
    }
    if (status.st_size > max) {
        ss_error_fail(error, "%s: larger than %lld bytes", path, (long long)max);
        errno = EFBIG;
        return -1;
    }
    return ss_owned_take(&file);
}

FILE *ss_input_stream(int folder, const char *path, off_t max, struct ss_error *error) {
    SS_OWNED(close) int file = ss_input_open(folder, path, max, error);
    FILE *stream = file < 0 ? NULL : fdopen(file, "r");
    if (stream)
        ss_owned_take(&file);
    else if (file >= 0)
        ss_paths_fail(path, error);
    return stream;
}
