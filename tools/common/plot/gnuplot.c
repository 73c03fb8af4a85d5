/* SPDX-License-Identifier: Apache-2.0 */
#include "gnuplot.h"

#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"
#include "letters.h"

void plot_quote(FILE *script, const char *text, size_t most) {
    fputc('"', script);
    size_t letters = 0;
    for (; *text && letters < most; letters++) {
        size_t length = text_letter_length(text);
        if (length == 0)
            fputc('?', script);
        for (size_t i = 0; i < length; i++)
            fprintf(script, "\\%03o", (unsigned char)text[i]);
        text += length > 0 ? length : 1;
    }
    fputs(*text ? "...\"" : "\"", script);
}

/* Finds the reason in gnuplot's messages, which quote the script first. */
static void read_complaint(FILE *file, char *complaint, size_t size) {
    char line[512];
    *complaint = '\0';
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        const char *from = line;
        if (strstr(line, "warning:"))
            continue;
        while (isspace((unsigned char)*from))
            from++;
        bool named = strncmp(from, "line ", 5) == 0 || strstr(from, "\" line ");
        line[strcspn(line, "\n")] = '\0';
        if (*from && (named || !*complaint))
            snprintf(complaint, size, "%s", ss_words_show(from).text);
        if (named)
            return;
    }
}

/*
 * Runs gnuplot on files, not pipes, so that neither process waits for the other or receives
 * SIGPIPE.
 */
static int run(FILE *script, FILE *output, FILE *complaints, struct ss_error *error) {
    char *const arguments[] = {
        (char *)"gnuplot", (char *)"-d", NULL}; /* ignore the user's settings */
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ss_error_memory(error);
    posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(complaints), STDERR_FILENO);
    pid_t child;
    int failure = posix_spawnp(&child, "gnuplot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0)
        return ss_error_fail(error,
            "cannot start gnuplot: %s: install gnuplot (Debian package gnuplot-nox)",
            strerror(failure));
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return ss_error_fail(error, "cannot wait for gnuplot: %s", strerror(errno));
    }
    if (status == 0)
        return 0;
    char complaint[256];
    read_complaint(complaints, complaint, sizeof complaint);
    return ss_error_fail(error,
        "gnuplot cannot draw the picture: %s: a newer version may work (Debian package "
        "gnuplot-nox)",
        *complaint            ? complaint
        : WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                              : "unknown reason");
}

static int draw(FILE *script, FILE *complaints, FILE *stream, struct ss_error *error) {
    off_t before = lseek(fileno(stream), 0, SEEK_CUR);
    if (fflush(script) != 0 || ferror(script) || lseek(fileno(script), 0, SEEK_SET) != 0)
        return ss_error_fail(error, "cannot write the script for gnuplot: %s", strerror(errno));
    if (run(script, stream, complaints, error) != 0)
        return -1;
    if (fseeko(stream, 0, SEEK_END) != 0 || ftello(stream) <= before)
        return ss_error_fail(
            error, "gnuplot drew nothing: check that 'gnuplot' in PATH is gnuplot");
    return 0;
}

int plot_run(FILE *script, FILE *stream, struct ss_error *error) {
    SS_OWNED(fclose) FILE *complaints = tmpfile();
    if (!complaints || fflush(stream) != 0)
        return ss_error_fail(
            error, "cannot create a temporary file for gnuplot: %s", strerror(errno));
    return draw(script, complaints, stream, error);
}
