/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "platform/platform.h"

/*
 * Opens the other end. Since Linux 4.13 this needs no path, which may not exist if devpts is
 * mounted elsewhere.
 */
static int open_peer(int ours) {
    unsigned number;
    char path[32];
    int theirs = ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (theirs >= 0 || (errno != ENOTTY && errno != EINVAL))
        return theirs;
    if (ioctl(ours, TIOCGPTN, &number) < 0)
        return -1;
    snprintf(path, sizeof path, "/dev/pts/%u", number);
    return open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static int make_raw(int terminal) {
    struct termios settings;
    if (tcgetattr(terminal, &settings) < 0)
        return -1;
    cfmakeraw(&settings);
    return tcsetattr(terminal, TCSANOW, &settings);
}

int ss_platform_pty_open(int *ours, int *theirs) {
    int unlocked = 0;
    *theirs = -1;
    *ours = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*ours >= 0 && ioctl(*ours, TIOCSPTLCK, &unlocked) == 0 &&
        (*theirs = open_peer(*ours)) >= 0 && make_raw(*theirs) == 0)
        return 0;

    int why = errno;
    if (*ours >= 0)
        close(*ours);
    if (*theirs >= 0)
        close(*theirs);
    *ours = *theirs = -1;
    return -why;
}
