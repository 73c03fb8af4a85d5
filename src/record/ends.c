/* SPDX-License-Identifier: Apache-2.0 */
#include "record/ends.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/grow.h"

/* Compares two times of ends. NaN, an end before control began, sorts first. */
static bool is_before(double left, double right) {
    return isnan(left) ? !isnan(right) : left < right;
}

void ss_ends_add(struct ss_ends *ends, const struct ss_end *end) {
    if (!SS_GROW(ends->items, ends->count + 1, ends->room))
        return;
    size_t at = ends->count++;
    for (; at > 0 && is_before(end->seconds, ends->items[at - 1].seconds); at--)
        ends->items[at] = ends->items[at - 1];
    ends->items[at] = *end;
}

void ss_ends_free(struct ss_ends *ends) {
    free(ends->items);
    *ends = (struct ss_ends){0};
}

size_t ss_ends_failed(const struct ss_ends *ends) {
    size_t failed = 0;
    for (size_t i = 0; i < ends->count; i++)
        failed += ends->items[i].status != 0;
    return failed;
}

void ss_end_signal_name(char name[SS_SIGNAL_NAME_SIZE], int signal) {
    static const struct {
        int signal;
        const char *name;
    } names[] = {
        {SIGABRT, "SIGABRT"},
        {SIGALRM, "SIGALRM"},
        {SIGBUS, "SIGBUS"},
        {SIGFPE, "SIGFPE"},
        {SIGHUP, "SIGHUP"},
        {SIGILL, "SIGILL"},
        {SIGINT, "SIGINT"},
        {SIGKILL, "SIGKILL"},
        {SIGPIPE, "SIGPIPE"},
        {SIGPROF, "SIGPROF"},
        {SIGQUIT, "SIGQUIT"},
        {SIGSEGV, "SIGSEGV"},
        {SIGSYS, "SIGSYS"},
        {SIGTERM, "SIGTERM"},
        {SIGTRAP, "SIGTRAP"},
        {SIGUSR1, "SIGUSR1"},
        {SIGUSR2, "SIGUSR2"},
        {SIGVTALRM, "SIGVTALRM"},
        {SIGXCPU, "SIGXCPU"},
        {SIGXFSZ, "SIGXFSZ"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].signal == signal) {
            snprintf(name, SS_SIGNAL_NAME_SIZE, "%s", names[i].name);
            return;
        }
    }

    if (signal >= SIGRTMIN && signal <= SIGRTMAX)
        snprintf(name, SS_SIGNAL_NAME_SIZE, "SIGRTMIN+%d", signal - SIGRTMIN);
    else
        snprintf(name, SS_SIGNAL_NAME_SIZE, "signal %d", signal);
}

void ss_end_describe(char text[SS_END_TEXT_SIZE], int status) {
    char name[SS_SIGNAL_NAME_SIZE];
    if (!WIFSIGNALED(status)) {
        snprintf(text, SS_END_TEXT_SIZE, "exit status %d", WEXITSTATUS(status));
        return;
    }
    ss_end_signal_name(name, WTERMSIG(status));
    snprintf(
        text, SS_END_TEXT_SIZE, "killed by %s%s", name, WCOREDUMP(status) ? " (core dumped)" : "");
}

void ss_end_print_time(char text[SS_END_TEXT_SIZE], double seconds) {
    if (isnan(seconds))
        snprintf(text, SS_END_TEXT_SIZE, "before control began");
    else if (seconds < 0)
        snprintf(text, SS_END_TEXT_SIZE, "%.2f s before control began", -seconds);
    else
        snprintf(text, SS_END_TEXT_SIZE, "after %.2f s", seconds);
}
