/* SPDX-License-Identifier: Apache-2.0 */
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"

/* Returns how many decimals show three digits after rounding. */
static int decimals_of(double value) {
    if (value < 9.995)
        return 2;
    return value < 99.95 ? 1 : 0;
}

struct request_text request_show_number(double number) {
    struct request_text shown = {"-"};
    if (number == rint(number) && fabs(number) < 1e15)
        snprintf(shown.text, sizeof shown.text, "%.0f", number);
    else if (fabs(number) < 0.9995)
        snprintf(shown.text, sizeof shown.text, "%.3g", number);
    else if (!isnan(number))
        snprintf(shown.text, sizeof shown.text, "%.*f", decimals_of(number), number);
    return shown;
}

struct request_text request_show_time(double seconds) {
    static const struct {
        const char *name;
        double per_second, from;
    } units[] = {{"s", 1, 0.9995}, {"ms", 1e3, 0.9995e-3}, {"us", 1e6, 0}};
    struct request_text shown = {"-"};
    size_t unit = 0;

    if (isnan(seconds))
        return shown;
    if (seconds == 0)
        return (struct request_text){"0 s"};

    while (seconds < units[unit].from)
        unit++;
    double value = seconds * units[unit].per_second;
    snprintf(shown.text, sizeof shown.text, "%.*f %s", decimals_of(value), value, units[unit].name);
    return shown;
}

struct request_text request_show_count(uint64_t count) {
    struct request_text shown;
    char digits[24], *to = shown.text;
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return shown;
}

struct request_text request_show_share(uint64_t part, uint64_t whole) {
    struct request_text shown = {"-"};
    if (whole == 0)
        return shown;

    double percent = 100 * (double)part / (double)whole;
    if (part > 0 && percent < 0.01)
        return (struct request_text){"less than 0.01 %"};
    if (part < whole && percent > 99.99)
        return (struct request_text){"more than 99.99 %"};

    int decimals = percent < 0.995 || percent > 99 ? 2 : 1;
    if (part == 0 || part == whole)
        decimals = 0;
    snprintf(shown.text, sizeof shown.text, "%.*f %%", decimals, percent);
    return shown;
}

char *request_show_url(const char *url) {
    const char *scheme = strstr(url, "://"), *user = scheme ? scheme + 3 : url;
    const char *at = memrchr(user, '@', strcspn(user, "/?#"));
    const char *colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL;
    if (!colon)
        return strdup(url);
    return ss_words_format(NULL, "%.*s***%s", (int)(colon + 1 - url), url, at);
}
