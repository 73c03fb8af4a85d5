/* SPDX-License-Identifier: Apache-2.0 */
#include "command/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/streams.h"
#include "base/words.h"

/* Size limit of the copy of a pipe's content. */
#define SPOOL_MAX ((off_t)1 << 30)

static int fail_recording(const char *path, const char *why, struct ss_error *error) {
    return ss_error_fail(error, "%s: %s", ss_words_show(path).text, why);
}

static void record_identity(struct ss_input *input, const struct stat *status) {
    input->device = status->st_dev;
    input->inode = status->st_ino;
    input->size = status->st_size;
    input->changed_at = status->st_mtim;
}

static bool is_same(const struct ss_input *input, const struct stat *status) {
    return input->device == status->st_dev && input->inode == status->st_ino &&
           input->size == status->st_size && input->changed_at.tv_sec == status->st_mtim.tv_sec &&
           input->changed_at.tv_nsec == status->st_mtim.tv_nsec;
}

/* Copies a pipe's content to an unnamed file. */
static int spool(struct ss_input *input, int pipe, struct ss_error *error) {
    struct stat status;
    SS_OWNED(fclose) FILE *stream = tmpfile();
    int why = errno;

    input->file = stream ? fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0) : -1;
    bool done = input->file >= 0 && ss_streams_copy(pipe, input->file, SPOOL_MAX) >= 0 &&
                fstat(input->file, &status) == 0;
    why = input->file >= 0 ? errno : why;
    if (!done && why == EFBIG)
        return fail_recording(
            input->path, "a record keeps at most 1 GiB from a pipe: name a file", error);
    if (!done)
        return ss_error_fail(error, "cannot copy %s for the record: %s",
            ss_words_show(input->path).text, strerror(why));

    record_identity(input, &status);
    snprintf(input->spool, sizeof input->spool, "/dev/fd/%d", input->file);
    return 0;
}

static int open_input(struct ss_input *input, struct ss_error *error) {
    struct stat status;
    if (stat(input->path, &status) < 0 || !(S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode)))
        return 0;
    SS_OWNED(close) int file = open(input->path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) < 0)
        return 0;
    if (!S_ISREG(status.st_mode))
        return spool(input, file, error);
    input->file = ss_owned_take(&file);
    record_identity(input, &status);
    return 0;
}

int ss_inputs_add(struct ss_inputs *inputs, const char *kind, const char *option, const char **slot,
    struct ss_error *error) {
    if (inputs->count == SS_INPUTS_MAX)
        return ss_error_fail(error,
            "%s: a record keeps at most %d files: give fewer, or leave out --record", option,
            SS_INPUTS_MAX);

    struct ss_input *input = &inputs->items[inputs->count++];
    *input =
        (struct ss_input){.kind = kind, .option = option, .path = *slot, .slot = slot, .file = -1};
    snprintf(input->name, sizeof input->name, SS_INPUT_PREFIX "%.30s%s%.30s", kind ? kind : "",
        kind ? "-" : "", option);
    if (open_input(input, error) < 0)
        return -1;

    if (*input->spool)
        *slot = input->spool;
    return 0;
}

static int fail_changed(const struct ss_input *input, struct ss_error *error) {
    return fail_recording(
        input->path, "the file changed while it was read: start the run again", error);
}

int ss_inputs_check(struct ss_inputs *inputs, struct ss_error *error) {
    for (size_t i = 0; i < inputs->count; i++)
        *inputs->items[i].slot = inputs->items[i].path;
    for (size_t i = 0; i < inputs->count; i++) {
        const struct ss_input *input = &inputs->items[i];
        struct stat status;
        if (input->file < 0)
            return fail_recording(
                input->path, "only files and pipes can be recorded: name a file", error);
        if (!*input->spool && (stat(input->path, &status) < 0 || !is_same(input, &status)))
            return fail_changed(input, error);
    }

    return 0;
}

static int copy_one(const struct ss_input *input, int folder, struct ss_error *error) {
    struct stat status;
    int to = openat(folder, input->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    bool written = to >= 0 && lseek(input->file, 0, SEEK_SET) == 0;
    off_t length = written ? ss_streams_copy(input->file, to, INT64_MAX) : -1;
    int why = errno;

    if (to >= 0 && close(to) < 0 && length >= 0) {
        length = -1;
        why = errno;
    }

    if (length < 0)
        return ss_error_fail(error, "cannot copy %s to %s in the record: %s",
            ss_words_show(input->path).text, input->name, strerror(why));
    if (fstat(input->file, &status) < 0 || !is_same(input, &status) || length != input->size)
        return fail_changed(input, error);

    return 0;
}

int ss_inputs_copy(const struct ss_inputs *inputs, int folder, struct ss_error *error) {
    for (size_t i = 0; i < inputs->count; i++) {
        if (copy_one(&inputs->items[i], folder, error) < 0)
            return -1;
    }
    return 0;
}

void ss_inputs_close(struct ss_inputs *inputs) {
    for (size_t i = 0; i < inputs->count; i++) {
        if (inputs->items[i].file >= 0)
            close(inputs->items[i].file);
    }
    *inputs = (struct ss_inputs){0};
}
