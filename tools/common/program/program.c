/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/paths.h"
#include "base/streams.h"
#include "base/version.h"
#include "platform/platform.h"

int ss_program_main(const char *name, ss_program *program, int argc, char **argv) {
    struct ss_error error = {0}, lost = {0};
    int status = 0;

    ss_platform_keep_arguments(argc, argv);
    ss_streams_open_missing();
    ss_paths_drop_empty();
    signal(SIGCHLD, SIG_DFL); /* a caller may ignore it, and children would have no exit status */

    if (ss_platform_check_rights(&error) < 0 || program(argv, &status, &error) < 0)
        fprintf(stderr, "%s: %s\n", name, error.message);

    /* Output that was printed before a failure is still useful. */
    if (ss_streams_flush(&lost) < 0 && !strstr(error.message, SS_STREAMS_LOST_PREFIX))
        fprintf(stderr, "%s: %s\n", name, lost.message);
    if (error.status)
        return error.status;
    return lost.status ? lost.status : status;
}

void ss_program_print_version(const char *name) {
    printf("%s %s\n", name, ss_version());
}

bool ss_program_print_requested(const char *name, const struct ss_option_store *store, int help,
    int version, void (*print_help)(void)) {
    if (store)
        ss_option_store_print_warnings(stderr, name, store);

    if (help)
        print_help();
    else if (version)
        ss_program_print_version(name);
    return help || version;
}
