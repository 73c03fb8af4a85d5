/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_END_SIGNALS_H
#define SHOWSTOPPER_BASE_END_SIGNALS_H

#include <signal.h>

/*
 * The signals that are to end a program in good order: SIGINT, SIGTERM, and SIGHUP unless it is
 * ignored, as nohup has it. SIGINT belongs to them even where it is ignored, as a shell has it in
 * what it starts in the background.
 */
void ss_end_signals(sigset_t *set);

#endif
