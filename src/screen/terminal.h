/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SCREEN_TERMINAL_H
#define SHOWSTOPPER_SCREEN_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

/* The controlling terminal, and its settings from the start of the run. */
struct ss_terminal {
    int file;    /* -1 if absent */
    pid_t group; /* the run's process group */
    bool ours;   /* the run was in the foreground, so the settings are ours to restore */
    struct termios settings;
};

void ss_terminal_open(struct ss_terminal *terminal);

/*
 * Restores the settings if an instance has changed them and the run is still in the foreground. If
 * the master is dead, the guardian calls this.
 */
void ss_terminal_close(struct ss_terminal *terminal);

/* Closes without restoring the settings: another process restores them. */
void ss_terminal_leave(struct ss_terminal *terminal);

#endif
