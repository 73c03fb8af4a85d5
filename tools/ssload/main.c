/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"
#include "platform/program.h"

static int run(char **argv, int *status, struct ss_error *error) {
    struct ssload_request request;
    int result = ssload_request_parse(&request, argv, error);
    if (result == 0 && !request.quiet)
        ss_option_store_print_warnings(stderr, "ssload", &request.store);
    if (result == 0 && request.help)
        ssload_request_print_help();
    else if (result == 0 && request.version)
        ss_program_print_version("ssload");
    else if (result == 0)
        result = ssload_measure(&request, status, error);
    ss_option_store_free(&request.store);
    return result;
}

int main(int argc, char **argv) {
    (void)argc;
    return ss_program_main("ssload", run, argv);
}
