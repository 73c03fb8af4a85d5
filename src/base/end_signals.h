/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_END_SIGNALS_H
#define SHOWSTOPPER_BASE_END_SIGNALS_H

#include <signal.h>

/*
 * Fills in the signals that should end a program in an orderly way: SIGINT, SIGTERM, and SIGHUP
 * unless it is ignored, as under nohup. Includes SIGINT even if it is ignored, because a script's
 * shell ignores it for programs that it starts in the background.
 */
void ss_end_signals(sigset_t *set);

#endif
