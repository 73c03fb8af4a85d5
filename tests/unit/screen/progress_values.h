/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_PROGRESS_VALUES_H
#define SHOWSTOPPER_TESTS_PROGRESS_VALUES_H

#include "screen/drawing.h"

/* Example values of the live view, all known. */
static const struct ss_progress_values known = {
    .elapsed = 12.9,
    .total = 30,
    .target = 0.25,
    .load = 0.248,
    .error = 0.213,
    .duty = 0.234,
    .iterations = 3.21,
    .has_iterations = true,
};

#endif
