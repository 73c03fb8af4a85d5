/* SPDX-License-Identifier: Apache-2.0 */
#include "base/end_signals.h"

#include <stddef.h>

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

#define ENDS (sizeof ends / sizeof *ends)

void ss_end_signals(sigset_t *set) {
    struct sigaction hangup;
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(set, SIGHUP);
}

bool ss_end_signals_has(int number) {
    bool found = false;
    for (size_t i = 0; i < ENDS; i++)
        found |= number == ends[i];
    return found;
}

void ss_end_signals_hold(sigset_t *before) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < ENDS; i++)
        sigaddset(&set, ends[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

bool ss_end_signals_are_held(const sigset_t *before) {
    sigset_t pending;
    bool ending = false;
    sigpending(&pending);
    for (size_t i = 0; i < ENDS; i++) {
        struct sigaction action;
        sigaction(ends[i], NULL, &action);
        ending |= sigismember(&pending, ends[i]) && !sigismember(before, ends[i]) &&
                  action.sa_handler != SIG_IGN;
    }
    return ending;
}
