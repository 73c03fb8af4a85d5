/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "measure.h"
#include "version.h"

static int run(const struct ssload_request *request, int *status, struct ss_error *error) {
    if (!request->help && !request->version)
        return ssload_measure(request, status, error);
    if (request->help)
        ssload_request_print_help();
    else
        printf("ssload %s\n", ss_version());
    if (fflush(stdout) != 0)
        return ss_error_set(error, SS_ERROR_FAILED, "standard output: %s", strerror(errno));
    return 0;
}

int main(int argc, char **argv) {
    (void)argc;
    struct ss_error error = {0};
    struct ssload_request request;
    int status = 0;
    if (ssload_request_parse(&request, argv, &error) == 0) {
        if (!request.quiet)
            ss_option_store_print_warnings(stderr, "ssload", &request.store);
        run(&request, &status, &error);
    }
    if (error.status) {
        fprintf(stderr, "ssload: %s\n", error.message);
        status = error.status;
    }
    ss_option_store_free(&request.store);
    return status;
}
