/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpus.h"

#include <string.h>

#include "base/words.h"

bool ss_cpus_has(const struct ss_cpus *cpus, uint32_t cpu) {
    return cpu < SS_CPUS_MAX && (cpus->bits[cpu / 64] >> (cpu % 64) & 1);
}

void ss_cpus_add(struct ss_cpus *cpus, uint32_t cpu) {
    if (cpu < SS_CPUS_MAX)
        cpus->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

bool ss_cpus_are_equal(const struct ss_cpus *left, const struct ss_cpus *right) {
    return memcmp(left, right, sizeof *left) == 0;
}

void ss_cpus_intersect(struct ss_cpus *cpus, const struct ss_cpus *other) {
    for (size_t i = 0; i < SS_CPUS_MAX / 64; i++)
        cpus->bits[i] &= other->bits[i];
}

uint32_t ss_cpus_count(const struct ss_cpus *cpus) {
    uint32_t count = 0;
    for (size_t i = 0; i < SS_CPUS_MAX / 64; i++)
        count += (uint32_t)__builtin_popcountll(cpus->bits[i]);
    return count;
}

uint32_t ss_cpus_last(const struct ss_cpus *cpus) {
    uint32_t last = SS_CPUS_MAX - 1;
    while (last > 0 && !ss_cpus_has(cpus, last))
        last--;
    return last;
}

uint32_t ss_cpus_first_outside(const struct ss_cpus *cpus, const struct ss_cpus *allowed) {
    for (uint32_t i = 0; i < SS_CPUS_MAX / 64; i++) {
        uint64_t outside = cpus->bits[i] & ~allowed->bits[i];
        if (outside)
            return 64 * i + (uint32_t)__builtin_ctzll(outside);
    }
    return SS_CPUS_MAX;
}

struct range {
    uint32_t first, last, stride;
};

/* Reads a number. A number too large for a CPU becomes SS_CPUS_MAX. */
static bool read_number(const char **at, uint32_t *number) {
    if (**at < '0' || **at > '9')
        return false;

    uint32_t value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        if (value < SS_CPUS_MAX)
            value = value * 10 + (uint32_t)(**at - '0');
        if (value > SS_CPUS_MAX)
            value = SS_CPUS_MAX;
    }

    *number = value;
    return true;
}

static bool read_range(const char **at, struct range *range) {
    if (!read_number(at, &range->first))
        return false;
    range->last = range->first;
    range->stride = 1;
    if (**at != '-')
        return true;

    ++*at;
    if (!read_number(at, &range->last))
        return false;
    if (**at != ':')
        return true;

    ++*at;
    return read_number(at, &range->stride);
}

/* Returns why the range is invalid, or NULL. */
static const char *range_fault(const struct range *range) {
    if (range->first >= SS_CPUS_MAX || range->last >= SS_CPUS_MAX)
        return "has a CPU number above 8191, the largest possible";
    if (range->first > range->last)
        return "has a descending range: put the smaller number first";
    if (range->stride == 0)
        return "has a range with a step of 0: use at least 1";
    return NULL;
}

_Static_assert(SS_CPUS_MAX == 8192, "the message above names the largest CPU");

/* Returns whether the text ends here. The kernel's files end with a newline. */
static bool at_end(const char *at) {
    return !*at || (*at == '\n' && !at[1]);
}

int ss_cpus_parse(const char *text, struct ss_cpus *cpus, struct ss_error *error) {
    struct ss_cpus found = {0};
    const char *at = text;
    for (;;) {
        struct range range;
        if (!read_range(&at, &range) || (*at != ',' && !at_end(at)))
            return ss_error_fail(error,
                "'%s' is not a list of CPUs: use numbers and ranges, such as 0-3,8,10-14:2",
                ss_words_show(text).text);

        const char *fault = range_fault(&range);
        if (fault)
            return ss_error_fail(error, "'%s' %s", ss_words_show(text).text, fault);
        for (uint32_t cpu = range.first; cpu <= range.last; cpu += range.stride)
            ss_cpus_add(&found, cpu);

        if (at_end(at))
            break;
        at++;
    }

    *cpus = found;
    return 0;
}

static const char ellipsis[] = ",...";

/* Cuts a list to `length` bytes and appends ",..." if that fits. */
static void end_early(char *buffer, size_t size, size_t length) {
    const char *end = length > 0 ? ellipsis : ellipsis + 1;
    if (length + strlen(end) < size)
        strcpy(buffer + length, end);
    else if (size > 0)
        buffer[length] = '\0';
}

void ss_cpus_print(char *buffer, size_t size, const struct ss_cpus *cpus) {
    size_t length = 0;
    size_t early = 0; /* how much of the list to keep if the rest does not fit */
    if (size > 0)
        buffer[0] = '\0';

    for (uint32_t first = 0; first < SS_CPUS_MAX; first++) {
        if (!ss_cpus_has(cpus, first))
            continue;

        uint32_t last = first;
        while (ss_cpus_has(cpus, last + 1))
            last++;

        char item[32];
        const char *comma = length > 0 ? "," : "";
        int added = last > first ? snprintf(item, sizeof item, "%s%u-%u", comma, first, last)
                                 : snprintf(item, sizeof item, "%s%u", comma, first);

        /*
         * Stop before an item that does not fit: a list cut inside a number would name another CPU.
         */
        if (length + (size_t)added >= size) {
            end_early(buffer, size, early);
            return;
        }

        memcpy(buffer + length, item, (size_t)added + 1);
        length += (size_t)added;
        if (length + strlen(ellipsis) < size)
            early = length;
        first = last;
    }
}
