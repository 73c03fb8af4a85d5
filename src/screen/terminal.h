/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SCREEN_TERMINAL_H
#define SHOWSTOPPER_SCREEN_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

/* The terminal that the run was started from, as it was then. */
struct ss_terminal {
    int file;    /* -1: there is none */
    pid_t group; /* in which the run stands */
    bool ours;   /* it was in the foreground, so the settings are ours to restore */
    struct termios settings;
};

void ss_terminal_open(struct ss_terminal *terminal);

/*
 * Gives it back as it was, if an instance has changed it and nobody else has got the foreground.
 * The guardian may do so, too, when the master is dead.
 */
void ss_terminal_close(struct ss_terminal *terminal);

#endif
