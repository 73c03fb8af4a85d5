/* SPDX-License-Identifier: Apache-2.0 */
#include "base/end_signals.h"

#include <stddef.h>

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

#define END_SIGNALS (sizeof end_signals / sizeof *end_signals)

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
    for (size_t i = 0; i < END_SIGNALS; i++)
        found |= number == end_signals[i];
    return found;
}

void ss_end_signals_block(sigset_t *before) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < END_SIGNALS; i++)
        sigaddset(&set, end_signals[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

bool ss_end_signal_is_pending(const sigset_t *before) {
    sigset_t pending;
    bool ending = false;
    sigpending(&pending);
    for (size_t i = 0; i < END_SIGNALS; i++) {
        struct sigaction action;
        sigaction(end_signals[i], NULL, &action);
        ending |= sigismember(&pending, end_signals[i]) && !sigismember(before, end_signals[i]) &&
                  action.sa_handler != SIG_IGN;
    }
    return ending;
}
