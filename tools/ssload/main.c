/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"
#include "platform/program.h"

static int run(char **argv, int *status, struct ss_error *error) {
    struct ssload_request request;
    int result = ssload_request_parse(&request, argv, error);
    const struct ss_option_store *warnings = request.quiet ? NULL : &request.store;
    if (result == 0 && !ss_arguments_answer("ssload", warnings, request.help, request.version,
                           ssload_request_print_help))
        result = ssload_measure(&request, status, error);
    ss_option_store_free(&request.store);
    return result;
}

int main(int argc, char **argv) {
    (void)argc;
    return ss_program_main("ssload", run, argv);
}
