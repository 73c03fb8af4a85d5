/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_END_SIGNALS_H
#define SHOWSTOPPER_BASE_END_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Fills in the signals that should end a program in an orderly way: SIGINT, SIGTERM, and SIGHUP
 * unless it is ignored, as under nohup. Includes SIGINT even if it is ignored, because a shell
 * script ignores it in its background jobs.
 */
void ss_end_signals(sigset_t *set);

/* Returns whether a signal is one of those above or SIGQUIT, even if it is ignored. */
bool ss_end_signals_has(int number);

/* Blocks all four signals. Stores the previous signal mask in `before`. */
void ss_end_signals_block(sigset_t *before);

/*
 * Returns whether a blocked signal is pending that will end this process as soon as the mask is
 * restored.
 */
bool ss_end_signal_is_pending(const sigset_t *before);

#endif
