/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_SHOW_H
#define SSREQUEST_SHOW_H

/* Figures as people read them. Put them into an argument list: show_time(x).text. */

#include <stdint.h>

struct ssrequest_shown {
    char text[32];
};

/* Three digits at least: "12.3 ms", "1.50 s", "980 us"; NaN: "-". */
struct ssrequest_shown ssrequest_show_time(double seconds);

/* Three digits at least, and all that stand before the point: "0.25", "99.8", "1234"; NaN: "-". */
struct ssrequest_shown ssrequest_show_number(double number);

/* "1,234,567". */
struct ssrequest_shown ssrequest_show_count(uint64_t count);

/* With a percent sign; never 0 % or 100 % of what is neither none nor all. */
struct ssrequest_shown ssrequest_show_share(uint64_t part, uint64_t whole);

#endif
