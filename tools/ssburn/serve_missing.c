/* SPDX-License-Identifier: Apache-2.0 */

/* In the place of serve.c where libmicrohttpd is not there. */

#include "serve.h"

int serve_command(char **argv, struct ss_error *error) {
    (void)argv;
    ss_error_fail(error, "serve: this ssburn was built without libmicrohttpd");
    return -2;
}
