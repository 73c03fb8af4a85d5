/* SPDX-License-Identifier: Apache-2.0 */

/* Instances that use the terminal of a run while they are in the background. */

#include "payload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define LINES         10
#define LINE_INTERVAL 20 /* ms */

static int open_terminal(void) {
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (terminal < 0)
        fprintf(stderr, "payload: /dev/tty: %s\n", strerror(errno));
    return terminal;
}

/* `tty-raw [keys]`: sets raw mode; with `keys`, Ctrl-C and other keys still send signals. */
static int make_raw(char **words) {
    struct termios settings;
    int terminal = open_terminal();
    if (terminal < 0 || tcgetattr(terminal, &settings) < 0)
        return 1;
    cfmakeraw(&settings);
    if (*words && strcmp(*words, "keys") == 0)
        settings.c_lflag |= ISIG;
    if (tcsetattr(terminal, TCSANOW, &settings) < 0)
        return 1;
    payload_say("ready");
    payload_spin();
}

/* `tty-read`: reads a byte and prints the error number. */
static int read_byte(char **words) {
    char byte;
    int terminal = open_terminal();
    if (terminal < 0)
        return 1;
    int why = read(terminal, &byte, 1) < 0 ? errno : 0;
    printf("read: %d\n", why);
    return 0;
}

/* `tty-write`: keeps writing lines for a while, so that some come after the start of the run. */
static int write_lines(char **words) {
    static const char line[] = "a line\n";
    int terminal = open_terminal();
    if (terminal < 0)
        return 1;
    for (int i = 0; i < LINES; i++) {
        if (write(terminal, line, sizeof line - 1) < 0)
            return 1;
        payload_nap(LINE_INTERVAL);
    }
    payload_say("done");
    return 0;
}

const struct payload_act payload_tty_acts[] = {
    {"tty-raw", .act = make_raw},
    {"tty-read", .act = read_byte},
    {"tty-write", .act = write_lines},
    {NULL, NULL},
};
