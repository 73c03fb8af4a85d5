/* SPDX-License-Identifier: Apache-2.0 */
#include "quantity.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "base/words.h"

struct scale {
    const char *name;
    uint64_t factor;
};

/* The printed units come first, from the largest to the smallest. */
struct quantity {
    const char *what, *example;
    size_t printed; /* number of units that are printed */
    const struct scale *scales;
};

const struct quantity quantity_frequency = {"a frequency", "1.4GHz", 4,
    (const struct scale[]){
        {"GHz", 1000000000}, {"MHz", 1000000}, {"kHz", 1000}, {"Hz", 1}, {NULL}}};

#define KIB 1024ULL

const struct quantity quantity_size = {"a size", "512M or 4G", 5,
    (const struct scale[]){{"T", KIB *KIB *KIB *KIB}, {"G", KIB *KIB *KIB}, {"M", KIB *KIB},
        {"K", KIB}, {"B", 1}, {"k", KIB}, {"TiB", KIB *KIB *KIB *KIB}, {"GiB", KIB *KIB *KIB},
        {"MiB", KIB *KIB}, {"KiB", KIB}, {NULL}}};

const struct quantity quantity_power = {
    "a power", "80W", 3, (const struct scale[]){{"W", 1000000}, {"mW", 1000}, {"uW", 1}, {NULL}}};

int quantity_parse(
    const struct quantity *kind, const char *text, uint64_t *value, struct ss_error *error) {
    size_t digits = strspn(text, "0123456789./");
    const struct scale *scale = kind->scales;
    char number[64];
    double parsed;

    while (scale->name && strcmp(scale->name, text + digits) != 0)
        scale++;
    snprintf(number, sizeof number, "%.*s", (int)digits, text);
    if (!scale->name || digits >= sizeof number || ss_units_number(number, &parsed, NULL) < 0)
        return ss_error_fail(error, "'%s' is not %s: use a number and a unit, such as %s",
            ss_words_show(text).text, kind->what, kind->example);

    double product = parsed * (double)scale->factor;
    if (product < 0.5 || product >= 0x1p63)
        return ss_error_fail(
            error, "'%s' is too %s", ss_words_show(text).text, product < 0.5 ? "small" : "large");
    *value = (uint64_t)(product + 0.5);
    return 0;
}

void quantity_print(const struct quantity *kind, char *buffer, size_t size, uint64_t value) {
    size_t i = 0;
    while (i + 1 < kind->printed && value < kind->scales[i].factor)
        i++;

    const struct scale *scale = &kind->scales[i];
    int length = snprintf(buffer, size, "%llu.%06llu", (unsigned long long)(value / scale->factor),
        (unsigned long long)(value % scale->factor * 1000000 / scale->factor));

    while (length > 0 && (size_t)length < size && buffer[length - 1] == '0')
        length--;
    if (length > 0 && (size_t)length < size && buffer[length - 1] == '.')
        length--;
    snprintf(buffer + length, size - (size_t)length, "%s", scale->name);
}
