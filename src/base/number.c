/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *ss_number_put(char *to, double number) {
    if (number == rint(number) && fabs(number) < 1e15)
        return to + snprintf(to, SS_NUMBER_SIZE, "%.0f", number == 0 ? 0 : number);

    /*
     * 15 digits suffice for every decimal with that many digits, 17 for every double; %g drops
     * trailing zeros.
     */
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(to, SS_NUMBER_SIZE, "%.*g", digits, number);
        if (strtod(to, NULL) == number)
            break;
    }

    return to + length;
}

char *ss_number_put_plain(char *to, double number) {
    char *end = ss_number_put(to, number);
    const char *exponent = isfinite(number) ? strchr(to, 'e') : NULL;
    if (!exponent)
        return end;
    int digits =
        (int)(exponent - to) - (number < 0) - (memchr(to, '.', (size_t)(exponent - to)) != NULL);
    int decimals = digits - 1 - (int)strtol(exponent + 1, NULL, 10);
    return to + snprintf(to, SS_NUMBER_PLAIN_SIZE, "%.*f", decimals > 0 ? decimals : 0, number);
}

static char *put_digits(char *to, uint64_t number, int min) {
    char digits[24];
    int count = 0;
    for (; number > 0 || count < min; number /= 10)
        digits[count++] = (char)('0' + number % 10);
    while (count > 0)
        *to++ = digits[--count];
    *to = '\0';
    return to;
}

/* Writes amount / power, where power is 10^decimals. */
static char *put_amount(char *to, bool negative, uint64_t amount, uint64_t power, int decimals) {
    if (negative && amount > 0)
        *to++ = '-';
    to = put_digits(to, amount / power, 1);
    if (decimals == 0)
        return to;
    *to++ = '.';
    return put_digits(to, amount % power, decimals);
}

char *ss_number_put_fixed(char *to, double number, int decimals) {
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    double size = fabs(number) * powers[decimals];
    if (size < 1e18)
        return put_amount(
            to, number < 0, (uint64_t)(size + 0.5), (uint64_t)powers[decimals], decimals);
    *to = '\0';
    return to;
}

char *ss_number_put_seconds(char *to, int64_t nanoseconds) {
    uint64_t size = nanoseconds < 0 ? -(uint64_t)nanoseconds : (uint64_t)nanoseconds;
    uint64_t half = nanoseconds < 0 ? 499 : 500;
    return put_amount(to, nanoseconds < 0, (size + half) / 1000, 1000000, 6);
}
