/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_END_SIGNALS_H
#define SHOWSTOPPER_BASE_END_SIGNALS_H

#include <signal.h>

/*
 * Fills in the signals that should end a program in an orderly way: SIGINT, SIGTERM, and SIGHUP
 * unless nohup has made the process ignore it. Includes SIGINT even if it is ignored, because
 * shells ignore it for programs that they start in the background.
 */
void ss_end_signals(sigset_t *set);

#endif
