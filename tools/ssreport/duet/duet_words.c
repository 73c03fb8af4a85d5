/* SPDX-License-Identifier: Apache-2.0 */
#include "duet_words.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Numbers that round to 0 are printed without a sign. */
static double shown(double percent) {
    return fabs(percent) < 0.05 ? 0 : percent;
}

/* Writes " beside h2 at 60 %" for h2@60%, or nothing without a background. */
static void describe_beside(const struct duet_study *study, char text[120]) {
    const char *at = strrchr(study->beside, '@');
    *text = '\0';
    if (at)
        snprintf(text, 120, " beside %.*s at %.*s %%", (int)(at - study->beside), study->beside,
            (int)strcspn(at + 1, "%"), at + 1);
}

/*
 * Writes "B is 1.8 % (1.1 to 2.5) slower than A", or "faster" if B is better. If the figure is a
 * time, writes "B takes 1.8 % ... more time than A", or compares response times.
 */
static void describe_difference(
    const struct duet_study *study, struct duet_percent worse, char text[160]) {
    bool better = worse.mean < 0;
    const char *more = better ? "faster" : "slower", *verb = "is";
    if (study->by_time) {
        more = better ? "less time" : "more time";
        verb = "takes";
    }
    if (better)
        worse = (struct duet_percent){-worse.mean, -worse.high, -worse.low};
    if (study->by_time && *study->response)
        snprintf(text, 160, "B's %s response time is %.1f %% (%.1f to %.1f) %s than A's",
            study->response, shown(worse.mean), shown(worse.low), shown(worse.high),
            better ? "shorter" : "longer");
    else
        snprintf(text, 160, "B %s %.1f %% (%.1f to %.1f) %s than A", verb, shown(worse.mean),
            shown(worse.low), shown(worse.high), more);
}

void duet_describe_size(const struct duet_study *study, char *text, size_t size) {
    size_t count = study->look.count;
    if (study->of_two_processes)
        snprintf(text, size, "one pair of processes, %zu turns", study->turns.count);
    else if (study->order == DUET_ALTERNATE)
        snprintf(text, size, "%zu pairs of processes", count);
    else if (study->order == DUET_BESIDE)
        snprintf(text, size, "%zu blocks of two runs of both", count);
    else
        snprintf(text, size, "%zu blocks of four runs", count);
}

void duet_ask(const struct duet_study *study, char *text, size_t size) {
    char beside[120];
    describe_beside(study, beside);
    const char *what = !study->by_time    ? "is faster"
                       : *study->response ? "responds faster"
                                          : "takes less time";
    snprintf(text, size, "Which %s%s, A or B?", what, beside);
}

static size_t blocks_done(const struct duet_study *study) {
    if (study->of_two_processes)
        return (size_t)(study->same.count > 0) + (study->different.count > 0);
    return study->same.carried + study->different.carried;
}

void duet_answer(const struct duet_study *study, char *text, size_t size) {
    char beside[120], difference[160], noise[80] = "unknown";
    const struct duet_percent *same = &study->worse_same;
    if (!isfinite(study->look.half)) {
        snprintf(text, size, "No answer yet: %zu of at least %zu %s are done", blocks_done(study),
            2 * duet_study_first(study),
            study->order == DUET_ALTERNATE ? "pairs of processes" : "blocks");
        return;
    }
    if (ssreport_worth_is_nothing(&study->worth)) {
        ssreport_worth_describe(&study->worth, text, size);
        return;
    }
    describe_beside(study, beside);
    describe_difference(study, study->worse, difference);
    if (isfinite(same->low) && isfinite(same->high))
        snprintf(noise, sizeof noise, "%.1f %% (%.1f to %.1f)", shown(same->mean), shown(same->low),
            shown(same->high));
    bool certain = study->worse.low > 0 || study->worse.high < 0;
    snprintf(text, size, "%s%s%s%s; A against A: %s",
        certain ? "" : "No certain difference: ", difference, beside,
        study->of_two_processes ? ", of these two processes" : "", noise);
}

void duet_describe_lack(
    const struct duet_study *study, const struct duet_blocks *blocks, char *text, size_t size) {
    size_t count = blocks->carried - blocks->count;
    const char *reason = study->by_time ? "the command did not end" : "no iteration ended";
    if (*study->response)
        reason = "too few requests were answered";
    snprintf(text, size, "%zu of %zu blocks of A and %s %s left out, because %s in %.300s", count,
        blocks->carried, blocks == &study->same ? "A" : "B", count == 1 ? "is" : "are", reason,
        blocks->unmeasured);
}

static void doubt(char *text, size_t size, const char *reason) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? "; " : "", reason);
}

/* Without an interval, or with one that contains 0, the difference may be chance. */
static void describe_background(const struct duet_percent *more, char *text, size_t size) {
    bool certain = more->low > 0 || more->high < 0, less = more->mean < 0;
    char range[48] = "";
    if (isfinite(more->low))
        snprintf(range, sizeof range, " (%.1f to %.1f)", less ? -more->high : more->low,
            less ? -more->low : more->high);
    snprintf(text, size, "the background did %.1f %%%s %s beside B than beside A, %s",
        fabs(more->mean), range, less ? "less" : "more",
        certain ? "so A and B did not run under the same load" : "which may be chance");
}

static size_t count_left_out(const struct duet_blocks *blocks) {
    return blocks->carried > blocks->count ? blocks->carried - blocks->count : 0;
}

/* Returns whether records are invalid or disturbed, except one in each block that is left out. */
static bool has_bad_records(const struct duet_study *study) {
    size_t left_out = count_left_out(&study->same) + count_left_out(&study->different);
    return study->worth.disturbed > 0 || study->worth.invalid > left_out;
}

void duet_doubt(const struct duet_study *study, char *text, size_t size) {
    const struct duet_blocks *both[] = {&study->same, &study->different};
    char reason[DUET_TEXT];
    *text = '\0';
    if (!ssreport_worth_is_nothing(&study->worth) && has_bad_records(study)) {
        ssreport_worth_describe(&study->worth, reason, sizeof reason);
        *reason = (char)tolower(*reason);
        doubt(text, size, reason);
    }
    if (study->same_differs)
        doubt(text, size,
            "A against A differs from 0 at 99 %, so even runs of one command differ on this "
            "machine");
    for (int i = 0; i < 2; i++) {
        if (!both[i]->unmeasured)
            continue;
        duet_describe_lack(study, both[i], reason, sizeof reason);
        doubt(text, size, reason);
    }
    if (study->beside_unknown)
        doubt(text, size,
            "whether the background did as much beside A as beside B is unknown, because in most "
            "blocks none of its iterations ended");
    else if (study->beside_differs) {
        describe_background(&study->beside_more, reason, sizeof reason);
        doubt(text, size, reason);
    }
}

enum duet_status duet_status_of(const struct duet_study *study) {
    if (study->decision != DUET_CONTINUES && ssreport_worth_is_nothing(&study->worth))
        return DUET_STATUS_UNDECIDED;
    switch (study->decision) {
    case DUET_CONTINUES:
        return DUET_STATUS_CONTINUES;
    case DUET_FAILED:
        return DUET_STATUS_FAILED;
    case DUET_PASSED:
        return DUET_STATUS_DONE;
    case DUET_PRECISE:
    case DUET_ENDED:
        break;
    }
    return isnan(study->fail_above) ? DUET_STATUS_DONE : DUET_STATUS_UNDECIDED;
}

void duet_print(FILE *stream, const struct duet_study *study) {
    char text[DUET_TEXT];
    duet_answer(study, text, sizeof text);
    fprintf(stream, "%s\n", text);
    duet_doubt(study, text, sizeof text);
    if (*text)
        fprintf(stream, "Doubtful: %s\n", text);
}

/* Prints a command as code, up to its first backquote or line feed, which would end the code. */
static void print_code(FILE *stream, const char *command) {
    fprintf(stream, "`%.*s`", (int)strcspn(command, "`\n"), command);
}

void duet_print_markdown(FILE *stream, const struct duet_study *study) {
    char text[DUET_TEXT];
    duet_answer(study, text, sizeof text);
    fprintf(stream, "**%s** (A: ", text);
    print_code(stream, study->a);
    fputs(", B: ", stream);
    print_code(stream, study->b);
    duet_describe_size(study, text, sizeof text);
    fprintf(stream, "; %s)", text);
    duet_doubt(study, text, sizeof text);
    fprintf(stream, "%s%s\n", *text ? " Doubtful: " : "", text);
}
