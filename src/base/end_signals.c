/* SPDX-License-Identifier: Apache-2.0 */
#include "base/end_signals.h"

#include <stddef.h>

void ss_end_signals(sigset_t *set) {
    struct sigaction hangup;
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(set, SIGHUP);
}
