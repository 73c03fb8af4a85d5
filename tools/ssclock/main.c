/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Prints the maximum error of this machine's clock in seconds, as the kernel estimates it. Exits
 * with status 1 if nothing synchronizes the clock. Nodes of `ssfleet replay` run this.
 */

#include <stdio.h>
#include <string.h>
#include <sys/timex.h>

#include "platform/program.h"

/*
 * The kernel increases its estimate up to this while nothing corrects the clock. STA_UNSYNC would
 * not do: programs also set it to keep the kernel from updating the hardware clock.
 */
#define BOUND_UNKNOWN 16000000 /* microseconds */

static int run(char **argv, int *status, struct ss_error *error) {
    struct timex state = {.modes = 0}; /* only read */
    if (argv[0] && argv[1] && strcmp(argv[1], "--help") == 0) {
        puts("Usage: showstopper-clock\n"
             "Prints by how many seconds this machine's clock may be off. The status is 1 if\n"
             "nothing synchronizes it. The nodes of ssfleet replay call it.");
        return 0;
    }
    if (argv[0] && argv[1])
        return ss_error_fail(error, "unexpected argument: this program takes none: see --help");
    if (adjtimex(&state) < 0)
        return ss_error_fail(error, "cannot read the state of the clock: %m");
    *status = state.maxerror < BOUND_UNKNOWN ? 0 : 1;
    if (*status == 0)
        printf("%.6f\n", (double)state.maxerror / 1e6);
    return 0;
}

int main(int argc, char **argv) {
    (void)argc;
    return ss_program_main("showstopper-clock", run, argv);
}
