/* SPDX-License-Identifier: Apache-2.0 */
#include "command_answers.h"

#include "base/version.h"

bool sssim_command_answers(FILE *stream, const struct ss_option_store *store,
    void (*print_help)(FILE *stream), bool version) {
    ss_option_store_print_warnings(stderr, "sssim", store);
    if (print_help)
        print_help(stream);
    else if (version)
        fprintf(stream, "sssim %s\n", ss_version());
    return print_help || version;
}
