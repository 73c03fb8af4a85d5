/* SPDX-License-Identifier: Apache-2.0 */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* One that nobody reads fails at once. */
static FILE *open_special(const char *path) {
    int descriptor = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    fcntl(descriptor, F_SETFL, 0);
    FILE *stream = fdopen(descriptor, "w");
    if (!stream)
        close(descriptor);
    return stream;
}

int ss_whole_file_open(struct ss_whole_file *file, const char *path) {
    struct stat status;
    file->path = path;
    file->plain = stat(path, &status) < 0 || S_ISREG(status.st_mode);
    if (file->plain) {
        snprintf(file->temporary, sizeof file->temporary, "%.4000s.%d", path, (int)getpid());
        file->stream = fopen(file->temporary, "wxe");
    } else {
        file->stream = open_special(path);
    }
    return file->stream ? 0 : -1;
}

void ss_whole_file_abandon(struct ss_whole_file *file) {
    int why = errno;
    if (file->stream)
        fclose(file->stream);
    file->stream = NULL;
    if (file->plain)
        unlink(file->temporary);
    errno = why;
}

int ss_whole_file_commit(struct ss_whole_file *file) {
    FILE *stream = file->stream;
    bool failed = ferror(stream) || fflush(stream) != 0;
    failed = failed || (file->plain && fsync(fileno(stream)) < 0);
    if (failed) {
        ss_whole_file_abandon(file);
        return -1;
    }
    file->stream = NULL;
    if (fclose(stream) == 0 && (!file->plain || rename(file->temporary, file->path) == 0))
        return 0;
    ss_whole_file_abandon(file);
    return -1;
}
