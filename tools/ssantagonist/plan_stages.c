/* SPDX-License-Identifier: Apache-2.0 */
#include "antagonist_stages.h"
#include "base/words.h"
#include "study_columns.h"

/* Time before the first slot to start all programs of a run, and after the last to end them. */
#define LEAD_SECONDS 3
#define END_SECONDS  2

/* Prints a word of a command. Doubles its braces, which ssbatch would take for placeholders. */
static void print_literal(FILE *stream, const char *word) {
    char doubled[8192];
    size_t used = 0;
    for (; *word && used + 2 < sizeof doubled; word++) {
        if (*word == '{')
            doubled[used++] = '{';
        doubled[used++] = *word;
    }
    doubled[used] = '\0';
    fputc(' ', stream);
    ss_words_quote_line(stream, doubled);
}

static size_t slots_of(const struct stage *stage) {
    return stage->codes.slots > 0 ? stage->codes.slots : STAGES_LOOK;
}

static void print_pids(const struct stages *stages, const struct stage *stage, size_t group,
    FILE *stream, bool with_start) {
    for (size_t i = stage->bounds[group]; i < stage->bounds[group + 1]; i++) {
        const struct suspect *one = &stages->suspects->items[stage->members[i]];
        fprintf(stream, "%s%d", i > stage->bounds[group] ? "," : "", (int)one->pid);
        if (with_start)
            fprintf(stream, "@%llu", (unsigned long long)one->started);
    }
}

static void print_run(const struct stages *stages, const struct stage *stage, FILE *stream) {
    double length = (double)slots_of(stage) * stage->slot + LEAD_SECONDS + END_SECONDS;
    fprintf(stream,
        "run %s takes %.9gs limit %.9gs depth=%g slot_seconds=%g suspects=", stage->name, length,
        2 * length + 600, stage->depth, stage->slot);
    for (size_t group = 0; group < stage->groups; group++) {
        fputs(group > 0 ? "+" : "", stream);
        print_pids(stages, stage, group, stream, true);
    }
    if (stage == stages->items)
        study_columns_print(stages->options, stages->suspects, stream);
    fputc('\n', stream);
    if (stage->codes.slots == 0)
        return;
    fprintf(stream,
        "  before codes -- ssantagonist codes --depth %.9g --slot %.9gs --slots %zu "
        "--shifts %u:",
        stage->depth, stage->slot, stage->codes.slots, stage->codes.start);
    for (size_t code = 0; code < codes_count(&stage->codes); code++)
        fprintf(stream, "%s%u", code > 0 ? "," : "", stage->codes.shifts[code]);
    fputs(" {out}\n", stream);
}

static void print_throttle(
    const struct stages *stages, const struct stage *stage, size_t group, FILE *stream) {
    fprintf(stream, "  main s%zu -- showstopper --quiet --attach ", group + 1);
    print_pids(stages, stage, group, stream, false);
    fprintf(stream, " --record-decisions none -f own -c fixed -d averageq -D tau=%lluns",
        (unsigned long long)stages->options->tau);
    if (stage->codes.slots > 0)
        fprintf(stream, " -t file -T path={out}/s%zu.trace,loop=no", group + 1);
    else
        fprintf(stream, " -l 100%% --duration %.9gs", (double)slots_of(stage) * stage->slot);
    fprintf(stream, " --start-at {at+%ds} --record {record}\n", LEAD_SECONDS);
}

static void print_watch(const struct stages *stages, const struct stage *stage, FILE *stream) {
    const struct watch_options *victim = &stages->options->victim;
    fprintf(stream,
        "  main victim -- ssantagonist watch --slots %zu --slot %.9gs "
        "--start-at {at+%ds} --rate %.9g",
        slots_of(stage), stage->slot, LEAD_SECONDS, victim->rate);
    if (stage->codes.slots > 0)
        fprintf(stream, " --usual %.9g", slots_mean(&stages->items[0].slots));
    if (victim->lower)
        fputs(" --lower-is-better", stream);
    if (victim->iteration) {
        fputs(" --iteration", stream);
        print_literal(stream, victim->iteration);
    }
    fputs(" --victim", stream);
    print_literal(stream, victim->victim);
    fputs(" {out}\n", stream);
}

void stages_print_plan(const struct stages *stages, FILE *stream) {
    fputs("plan 1\nset experiment=antagonist\n", stream);
    for (size_t i = 0; i < stages->count; i++) {
        const struct stage *stage = &stages->items[i];
        print_run(stages, stage, stream);
        for (size_t group = 0; group < stage->groups; group++)
            print_throttle(stages, stage, group, stream);
        print_watch(stages, stage, stream);
    }
}
