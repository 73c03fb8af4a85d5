/* SPDX-License-Identifier: Apache-2.0 */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/words.h"
#include "trace/compiled.h"

static const char *folder(void) {
    const char *chosen = getenv("TMPDIR");
    return chosen && *chosen ? chosen : "/tmp";
}

int sstrace_spool_fail(struct ss_error *error) {
    return ss_error_fail(error,
        "cannot use a temporary file in %s: %s: set TMPDIR to a folder with room",
        ss_words_show(folder()).text, strerror(errno));
}

static int take(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct sstrace_spool *spool = (struct sstrace_spool *)sink;
    struct ss_trace_packed packed = ss_trace_pack(record);
    if (fwrite_unlocked(&packed, sizeof packed, 1, spool->file) != 1)
        return sstrace_spool_fail(error);
    if (!record->free && spool->first_load == SS_TIME_NEVER)
        spool->first_load = record->time;
    spool->length = record->time;
    spool->count++;
    return 0;
}

static int end(struct ss_trace_sink *sink, struct ss_error *error) {
    return fflush(((struct sstrace_spool *)sink)->file) == 0 ? 0 : sstrace_spool_fail(error);
}

/* Opens an unnamed file, even if the file system lacks O_TMPFILE. */
int sstrace_spool_file(void) {
    int descriptor = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return descriptor;
    char path[4200];
    snprintf(path, sizeof path, "%.4000s/sstrace.XXXXXX", folder());
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        unlink(path);
    return descriptor;
}

int sstrace_spool_open(struct sstrace_spool *spool, struct ss_error *error) {
    *spool =
        (struct sstrace_spool){.sink = {.take = take, .end = end}, .first_load = SS_TIME_NEVER};
    int descriptor = sstrace_spool_file();
    if (descriptor < 0)
        return sstrace_spool_fail(error);
    spool->file = fdopen(descriptor, "w+");
    if (!spool->file) {
        close(descriptor);
        return sstrace_spool_fail(error);
    }
    return 0;
}

int sstrace_spool_play(
    struct sstrace_spool *spool, struct ss_trace_sink *to, struct ss_error *error) {
    struct ss_trace_packed packed;
    rewind(spool->file);
    for (uint64_t i = 0; i < spool->count; i++) {
        if (fread_unlocked(&packed, sizeof packed, 1, spool->file) != 1)
            return sstrace_spool_fail(error);
        struct ss_trace_record record = ss_trace_unpack(&packed);
        if (to->take(to, &record, error) != 0)
            return -1;
    }
    return 0;
}

void sstrace_spool_close(struct sstrace_spool *spool) {
    if (spool->file)
        fclose(spool->file);
    spool->file = NULL;
}
