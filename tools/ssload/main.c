/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/streams.h"
#include "base/version.h"
#include "measure.h"

static int run(const struct ssload_request *request, int *status, struct ss_error *error) {
    if (!request->help && !request->version)
        return ssload_measure(request, status, error);
    if (request->help)
        ssload_request_print_help();
    else
        printf("ssload %s\n", ss_version());
    return ss_streams_flush(error);
}

int main(int argc, char **argv) {
    (void)argc;
    ss_streams_occupy();
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
