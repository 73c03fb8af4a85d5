/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_WAKEUP_H
#define SHOWSTOPPER_BASE_WAKEUP_H

/*
 * A wakeup pipe is non-blocking at both ends. Its bytes mean nothing: they only wake the reader,
 * which then looks for changes. Several bytes before it wakes up have the effect of one.
 */

/* Wakes the reader of the pipe whose write end this is. */
void ss_wakeup_send(int end);

/* Reads all bytes from the read end. */
void ss_wakeup_drain(int end);

#endif
