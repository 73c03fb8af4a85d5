/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_REQUEST_CASE_H
#define SHOWSTOPPER_TESTS_REQUEST_CASE_H

/* For cases with a made-up run: TEST_WITH(name, made_up_set_up, made_up_tear_down). */

#include "requests.h"

static struct made_up it;

static inline int made_up_set_up(void **state) {
    (void)state;
    made_up_open(&it);
    return 0;
}

static inline int made_up_tear_down(void **state) {
    (void)state;
    made_up_close(&it);
    return 0;
}

#endif
