/* SPDX-License-Identifier: Apache-2.0 */
#include "base/program.h"

#include <stdio.h>

#include "base/streams.h"
#include "base/version.h"

int ss_program_main(const char *name, ss_program *program, char **argv) {
    struct ss_error error = {0};
    int status = 0;
    ss_streams_occupy();
    /* Output that was printed before a failure is still useful. */
    if (program(argv, &status, &error) < 0 || ss_streams_flush(&error) < 0)
        fprintf(stderr, "%s: %s\n", name, error.message);
    return error.status ? error.status : status;
}

void ss_program_print_version(const char *name) {
    printf("%s %s\n", name, ss_version());
}
