/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_SHOW_H
#define REQUEST_SHOW_H

/*
 * Formats numbers and URLs for people. The results are structures, so that calls fit into a list of
 * arguments: request_show_time(x).text.
 */

#include <stdint.h>

struct request_text {
    char text[32];
};

/* Shows a time with at least three digits: "12.3 ms", "1.50 s", "980 us"; "-" for NaN. */
struct request_text request_show_time(double seconds);

/*
 * Shows a number with three significant digits, but with all digits before the point: "0.25",
 * "99.8", "1234"; "-" for NaN.
 */
struct request_text request_show_number(double number);

/* Shows a count: "1,234,567". */
struct request_text request_show_count(uint64_t count);

/* Shows a part in percent; prints 0 % and 100 % only if they are exact. */
struct request_text request_show_share(uint64_t part, uint64_t whole);

/*
 * Returns a copy of the URL with *** instead of its password, because people share records and
 * messages. free() it. Returns NULL if memory is exhausted.
 */
char *request_show_url(const char *url);

#endif
