/* SPDX-License-Identifier: Apache-2.0 */
#include "joblog.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"

int ssbatch_joblog_check(const char *path, struct ss_error *error) {
    SS_OWNED(close) int file = -1;
    if (!path)
        return 0;
    file = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) {
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0)
            unlink(path);
    }
    return file >= 0 ? 0
                     : ss_error_fail(
                           error, "--joblog: %s: %s", ss_words_show(path).text, strerror(errno));
}

/* Calls append to one file, whose rows are numbered through. Leaves the position at the end. */
static size_t count_lines(FILE *file) {
    size_t lines = 0;
    int byte;
    while ((byte = getc(file)) != EOF)
        lines += byte == '\n';
    fseek(file, 0, SEEK_END);
    return lines;
}

int ssbatch_joblog_open(struct ssbatch_joblog *log, const char *path, struct ss_error *error) {
    if (!path)
        return 0;
    log->file = fopen(path, "a+e");
    if (!log->file)
        return ss_error_fail(error, "--joblog: %s: %s", ss_words_show(path).text, strerror(errno));
    size_t lines = count_lines(log->file);
    log->rows = lines > 0 ? lines - 1 : 0;
    if (lines == 0)
        fputs("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n",
            log->file);
    return 0;
}

static const struct ssbatch_line *first_main(const struct ssbatch_run *run) {
    for (size_t i = 0; i < run->lines.count; i++) {
        if (run->lines.items[i].kind == SSBATCH_MAIN)
            return &run->lines.items[i];
    }
    return NULL;
}

int ssbatch_joblog_add(struct ssbatch_joblog *log, const struct ssbatch_study *study,
    const struct ssbatch_run *run, const struct ssbatch_attempt *attempt, struct ss_error *error) {
    bool ran = attempt->begin != 0 && attempt->status != SSBATCH_TO_COME;
    const struct ssbatch_line *line = first_main(run);
    if (!log->file || !ran || !line)
        return 0;
    int signal = attempt->ended_by, status = signal ? 0 : attempt->exit_status;
    if (attempt->status == SSBATCH_FAILED && signal == 0 && status == 0)
        status = 1;
    fprintf(log->file, "%zu\t%s\t%.3f\t%.3f\t0\t0\t%d\t%d\t", ++log->rows, study->host,
        (double)attempt->begin / 1e9, attempt->seconds, status, signal);
    for (char **word = line->words; *word; word++) {
        if (word != line->words)
            fputc(' ', log->file);
        ss_words_quote_line(log->file, *word);
    }
    fputc('\n', log->file);
    return fflush(log->file) == EOF ? ss_error_fail(error, "--joblog: %s", strerror(errno)) : 0;
}

void ssbatch_joblog_close(struct ssbatch_joblog *log) {
    if (log->file)
        fclose(log->file);
}
