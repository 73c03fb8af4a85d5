/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>

#include "base/owned.h"
#include "base/walk.h"
#include "base/words.h"
#include "carry_run.h"

int ssbatch_joblog_open(struct ssbatch_joblog *log, const char *path, struct ss_error *error) {
    if (!path)
        return 0;

    struct ss_error why = {0};
    SS_OWNED(close) int file = ss_walk_open_path(path, O_RDWR | O_APPEND, &why);
    if (file < 0)
        return ss_error_fail(error, "--joblog: %s: %s", ss_words_show(path).text, why.message);
    log->file = fdopen(file, "a+");
    if (!log->file)
        return ss_error_memory(error);
    ss_owned_take(&file);

    rewind(log->file);
    /* Several calls may append to one file. Continue its numbers. */
    size_t lines = 0;
    for (int byte; (byte = getc(log->file)) != EOF;)
        lines += byte == '\n';
    fseek(log->file, 0, SEEK_END);

    log->rows = lines > 0 ? lines - 1 : 0;
    if (lines == 0)
        fputs("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n",
            log->file);
    return 0;
}

int ssbatch_joblog_add(struct ssbatch_joblog *log, const struct ssbatch_study *study,
    const struct ssbatch_run *run, const struct ssbatch_attempt *attempt, struct ss_error *error) {
    const struct ssbatch_line *line = run->lines.items;
    if (!log->file || attempt->begin == 0 || attempt->status == SSBATCH_PENDING)
        return 0;

    while (line->kind != SSBATCH_MAIN) /* a run that was carried out has one */
        line++;

    int signal = attempt->ended_by, status = signal ? 0 : attempt->exit_status;
    if (attempt->status == SSBATCH_FAILED && signal == 0 && status == 0)
        status = 1;

    fprintf(log->file, "%zu\t%s\t%.3f\t%.3f\t0\t0\t%d\t%d\t", ++log->rows, study->host,
        (double)attempt->begin / 1e9, attempt->seconds, status, signal);
    ss_words_quote(log->file, line->words[0]);
    ssbatch_print_words(log->file, line->words + 1);
    fputc('\n', log->file);
    return fflush(log->file) == EOF ? ss_error_fail(error, "--joblog: %s", strerror(errno)) : 0;
}
