/* SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/owned.h"
#include "base/suggest.h"
#include "base/units.h"
#include "base/words.h"
#include "generator.h"

/* Refuse a higher rate: no process can send that fast, so it must be a typo. */
#define RATE_MAX 1e6

_Static_assert(REQUEST_TARGETS_MAX == 64, "the usage below contains this number");

static const struct command {
    const char *name;
    size_t min, max;
    const char *usage;
} commands[] = {
    [REQUEST_CONTROL_RATE] = {"rate", 1, 1, "rate NUMBER"},
    [REQUEST_CONTROL_URLS] = {"urls", 1, REQUEST_TARGETS_MAX, "urls URL [URL...], at most 64"},
    [REQUEST_CONTROL_STOP] = {"stop", 0, 0, "stop"},
    [REQUEST_CONTROL_STATUS] = {"status", 0, 0, "status"},
};

static int take_rate(struct request_control *control, const char *text, struct ss_error *error) {
    if (ss_units_number(text, &control->rate, error) < 0)
        return ss_error_wrap(error, "rate");
    if (control->rate > RATE_MAX)
        return ss_error_fail(error, "rate: too high (at most %.0f requests per second)", RATE_MAX);
    return 0;
}

static int take_words(struct request_control *control, size_t count, struct ss_error *error) {
    static const struct ss_suggest_names known = {
        "command", SS_SUGGEST_ROWS(commands), "use rate, urls, stop or status"};

    if (count == 0)
        return ss_error_fail(error, "the line is empty: use rate, urls, stop or status");

    int found = ss_suggest_find(&known, control->words[0], error);
    if (found < 0)
        return -1;
    control->command = (enum request_command)found;
    const struct command *command = &commands[found];

    if (count - 1 < command->min || count - 1 > command->max)
        return ss_error_fail(error, "%s: wrong number of arguments (%zu): use %s", command->name,
            count - 1, command->usage);

    if (control->command == REQUEST_CONTROL_RATE)
        return take_rate(control, control->words[1], error);
    if (control->command == REQUEST_CONTROL_URLS) {
        control->urls = control->words + 1;
        control->url_count = count - 1;
    }
    return 0;
}

int request_control_parse(
    struct request_control *control, const char *line, struct ss_error *error) {
    size_t count = 0;
    *control = (struct request_control){.rate = NAN};
    if (!(control->words = ss_words_split(line, &count, error)))
        return -1;
    if (take_words(control, count, error) == 0)
        return 0;
    request_control_free(control);
    return -1;
}

void request_control_free(struct request_control *control) {
    free(control->words);
    control->words = control->urls = NULL;
}

static bool is_taken(const uint32_t *matches, uint32_t count, uint32_t number) {
    for (uint32_t i = 0; i < count; i++) {
        if (matches[i] == number)
            return true;
    }
    return false;
}

void request_control_match(const char *const *urls, uint32_t count, const char *const *before,
    uint32_t before_count, uint32_t *matches) {
    for (uint32_t i = 0; i < count; i++) {
        matches[i] = REQUEST_TARGET_NEW;
        for (uint32_t j = 0; j < before_count && matches[i] == REQUEST_TARGET_NEW; j++) {
            if (strcmp(urls[i], before[j]) == 0 && !is_taken(matches, i, j))
                matches[i] = j;
        }
    }
}

void request_control_describe(
    char *buffer, size_t size, const struct request_tally *tally, double rate, ss_time now) {
    char shown[SS_NUMBER_PLAIN_SIZE] = "none";
    if (!isnan(rate))
        ss_number_put_plain(shown, rate);

    snprintf(buffer, size,
        "elapsed_seconds=%.3f rate=%s intended=%llu sent=%llu refused=%llu waiting=%llu "
        "unfinished=%llu succeeded=%llu failed=%llu",
        ss_time_seconds(now), shown, (unsigned long long)tally->intended,
        (unsigned long long)tally->sent, (unsigned long long)tally->refused,
        (unsigned long long)tally->waiting, (unsigned long long)tally->unfinished,
        (unsigned long long)tally->outcomes[REQUEST_SUCCESS],
        (unsigned long long)request_tally_failed(tally));
}

/* All targets with one URL. */
struct same_url {
    const char *url;
    size_t first;
    uint64_t unfinished;
    bool is_current;
};

static int compare_urls(const void *left, const void *right) {
    const struct same_url *a = left, *b = right;
    int order = strcmp(a->url, b->url);
    return order ? order : (a->first > b->first) - (a->first < b->first);
}

static int compare_first(const void *left, const void *right) {
    const struct same_url *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

/* Adds up the targets of each URL, sorts the URLs by first use, and returns how many there are. */
static size_t group_targets(
    const struct request_control_targets *targets, struct same_url *groups) {
    size_t used = 0;

    for (size_t i = 0; i < targets->count; i++)
        groups[i] = (struct same_url){
            targets->urls[i], i, targets->unfinished[i], i + targets->current >= targets->count};
    qsort(groups, targets->count, sizeof *groups, compare_urls);

    for (size_t i = 0; i < targets->count; i++) {
        struct same_url *last = used > 0 ? &groups[used - 1] : NULL;
        if (last && strcmp(last->url, groups[i].url) == 0) {
            last->unfinished += groups[i].unfinished;
            last->is_current |= groups[i].is_current;
        } else {
            groups[used++] = groups[i];
        }
    }

    qsort(groups, used, sizeof *groups, compare_first);
    return used;
}

void request_control_describe_targets(
    char *buffer, size_t size, const struct request_control_targets *targets) {
    size_t used = strlen(buffer), left_out = 0;
    /* Reserve room for ` left_out=`, whose number has at most 20 digits. */
    size_t room = size > sizeof " left_out=" + 20 ? size - sizeof " left_out=" - 20 : 0;
    SS_OWNED(free) struct same_url *groups = calloc(targets->count + 1, sizeof *groups);
    size_t count = groups ? group_targets(targets, groups) : 0;
    left_out += groups ? 0 : targets->count;

    for (size_t i = 0; i < count; i++) {
        if (!groups[i].is_current && groups[i].unfinished == 0)
            continue;

        int length = snprintf(buffer + used, room > used ? room - used : 0,
            " unfinished_of=%llu,%s", (unsigned long long)groups[i].unfinished, groups[i].url);
        if (length > 0 && used + (size_t)length < room)
            used += (size_t)length;
        else
            left_out++;
    }

    buffer[used] = '\0';
    if (left_out > 0)
        snprintf(buffer + used, size - used, " left_out=%zu", left_out);
}
