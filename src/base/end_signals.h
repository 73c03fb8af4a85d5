/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_END_SIGNALS_H
#define SHOWSTOPPER_BASE_END_SIGNALS_H

#include <signal.h>

/*
 * Fills in the signals that should end a program in good order: SIGINT, SIGTERM, and SIGHUP unless
 * nohup has made it ignored. SIGINT is included even if it is ignored, because a shell ignores it
 * for programs that it starts in the background.
 */
void ss_end_signals(sigset_t *set);

#endif
