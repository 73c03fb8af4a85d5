/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_BELL_H
#define SHOWSTOPPER_BASE_BELL_H

/*
 * A bell is a pipe, with both ends non-blocking, whose bytes only wake its reader. The reader then
 * looks for what has changed, so several rings before it wakes up count as one.
 */

/* Rings the bell whose write end this is. */
void ss_bell_ring(int bell);

/* Takes all bytes out of the read end. */
void ss_bell_drain(int bell);

#endif
