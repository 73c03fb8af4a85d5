/* SPDX-License-Identifier: Apache-2.0 */
#include "scale.h"

#include <string.h>

int sstrace_scale_set(struct sstrace_scale *scale, const struct sstrace_import_options *options,
    enum sstrace_unit unit, struct ss_error *error) {
    if (options->unit != SSTRACE_UNIT_DEFAULT)
        unit = options->unit;
    if (unit == SSTRACE_UNIT_CORES && options->cpus == 0)
        return ss_error_fail(error, "--unit cores requires --cpus");

    scale->full = unit == SSTRACE_UNIT_FRACTION ? 1 : 100;
    if (unit == SSTRACE_UNIT_CORES)
        scale->full *= (double)options->cpus;
    return 0;
}

double sstrace_scale_from_idle(double idle, double rounding) {
    double load = (100 - idle) / 100;
    return load < 0 && load * 100 > -rounding ? 0 : load;
}

/* Returns whether the text is one to three digits (the first not 0), a comma and three digits. */
static bool is_ambiguous(const char *text, size_t length) {
    size_t sign = length > 0 && (*text == '-' || *text == '+');
    text += sign;
    length -= sign;
    return length >= 5 && length <= 7 && text[length - 4] == ',' && *text != '0';
}

/* Decides whether the comma of a number is a decimal point. Returns false if that is uncertain. */
static bool decides_comma(struct sstrace_scale *scale, const struct text_field *field) {
    if (!scale->comma || !memchr(field->text, ',', field->length))
        return true;
    scale->proven |= !is_ambiguous(field->text, field->length);
    return scale->proven;
}

int sstrace_scale_load(struct sstrace_scale *scale, struct text_input *input,
    const struct text_field *field, double *number, double *load) {
    struct text_field plain = *field;
    double full = scale->full;

    if (plain.length > 0 && plain.text[plain.length - 1] == '%') {
        plain.length--;
        while (plain.length > 0 && plain.text[plain.length - 1] == ' ')
            plain.length--;
        full = full == 1 ? 100 : full;
    }

    if (!text_field_number(&plain, scale->comma, number))
        return text_input_blame(input, field->column, "expected a number");
    if (!decides_comma(scale, &plain))
        return text_input_blame(input, field->column,
            "ambiguous comma, either a decimal point or a thousands separator: use a point, or no "
            "comma");

    *load = *number / full;
    if (scale->is_idle)
        *load = sstrace_scale_from_idle(*load * 100, SSTRACE_ROUNDING_PERCENT);
    return 0;
}
