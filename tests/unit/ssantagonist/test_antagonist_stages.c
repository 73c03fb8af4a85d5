/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of studies in a folder. The tests write the figures and CPU times. */

#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../full.h"
#include "answer.h"
#include "antagonist_stages.h"
#include "base/json.h"
#include "base/wallclock.h"
#include "base/words.h"
#include "study_columns.h"
#include "unit.h"
#include <showstopper/random.h>

#define BEGIN 1700000000 /* start of every run, seconds since 1970 */

static char folder[64];
static struct suspects suspects;
static struct stages_options options;

/* The behavior of each suspect, in the order of pids: tests set it; 0 has no effect. */
static struct behavior {
    double cost;        /* gain of the victim while it is throttled, as a logarithm at full depth */
    double catches_up;  /* the part of the withheld CPU time that it still uses in the same slot */
    double fills_gaps;  /* by this part, it uses more CPU time while the first one is throttled */
    double grows;       /* by this part, it uses more CPU time after `look` */
    double varies;      /* by at most half of this part, its CPU time varies from slot to slot */
    bool returns_later; /* it uses the withheld CPU time in other slots */
    bool only_stops;    /* it is stopped nearly all the time */
    bool hardly_runs;   /* it uses 0.09 % of a CPU */
} jobs[300];

/* Gain of the victim while the first two suspects are throttled together, as a logarithm. */
static double gain_of_both;

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *place) {
    (void)status;
    (void)flag;
    (void)place;
    return remove(path);
}

/* Begins a study of these suspects: pids 100, 101 and so on. */
static void open_study(size_t count) {
    strcpy(folder, "/tmp/antagonist-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    memset(jobs, 0, sizeof jobs);
    gain_of_both = 0;
    suspects = (struct suspects){.items = calloc(count, sizeof *suspects.items), .count = count};
    for (size_t i = 0; i < count; i++) {
        suspects.items[i] = (struct suspect){.pid = (pid_t)(100 + i), .started = 7};
        snprintf(
            suspects.items[i].name, sizeof suspects.items[i].name, "job%u", (unsigned)(i % 1000));
    }
    options = (struct stages_options){
        .folder = folder,
        .victim = {.victim = "bench --figure {x}", .rate = 20},
        .depth = 0.2,
        .tau = 53 * SS_MILLISECOND,
    };
}

static void close_study(void) {
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(suspects.items);
}

static struct stages read_study(void) {
    struct stages stages;
    struct ss_error error = {0};
    if (stages_open(&stages, &options, &suspects, &error) < 0)
        fail_msg("%s", error.message);
    return stages;
}

static FILE *create(const char *run, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, run);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", folder, run, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    return file;
}

static void write_text(const char *run, const char *name, const char *text) {
    FILE *file = create(run, name);
    fputs(text, file);
    fclose(file);
}

static bool is_low(const struct stage *stage, size_t group, size_t slot) {
    return stage->codes.slots > 0 && codes_low(&stage->codes, group, slot);
}

static void write_record(const struct stage *stage, size_t group, size_t slots) {
    char name[80], time[40];
    const struct behavior *job = &jobs[stage->members[stage->bounds[group]]];
    snprintf(name, sizeof name, "%s/s%zu", stage->name, group + 1);
    write_text(name, "plan.json", "{\"cpu_count\": 2}\n");
    FILE *file = create(name, "samples.csv");
    fputs("time,elapsed_seconds,target,load,error,duty,counted\n", file);
    for (size_t sample = 0; sample < slots * (size_t)(2 * stage->slot); sample++) {
        double load = 0.25, elapsed = (double)(sample + 1) / 2;
        size_t slot = (size_t)((double)sample / (2 * stage->slot));
        if (job->only_stops)
            load = is_low(stage, group, slot) ? 0.02 : 0.005;
        else if (is_low(stage, group, slot))
            load *= 1 - stage->depth * (1 - job->catches_up);
        else if (job->returns_later && stage->codes.slots > 0)
            load *= 1 + stage->depth;
        if (job->hardly_runs)
            load = 0.00045; /* of two CPUs */
        if (is_low(stage, 0, slot))
            load *= 1 + job->fills_gaps;
        if (stage->codes.slots > 0)
            load *= 1 + job->grows;
        uint64_t random = slot;
        load *= 1 + job->varies * (ss_random_next(&random) - 0.5);
        ss_wallclock_print(time, sizeof time, (int64_t)((BEGIN + elapsed) * 1e9));
        fprintf(file, "%s,%.6f,1,%.9f,0,1,1\n", time, elapsed, load);
    }
    fclose(file);
}

/*
 * Carries out a run: figures are 100 with 1 % of noise, plus the gains of the throttled suspects.
 */
static void carry_out(const struct stage *stage) {
    size_t count = stage->codes.slots > 0 ? stage->codes.slots : STAGES_LOOK;
    struct slots slots = {.count = count, .begin = BEGIN, .length = stage->slot};
    uint64_t random = stage->codes.start + 4;
    write_text(stage->name, "run.json", "{\"status\": \"done\"}\n");
    FILE *file = create(stage->name, "slots.csv");
    slots_write_heading(file);
    for (size_t slot = 0; slot < count; slot++) {
        double gain = 0.02 * (ss_random_next(&random) - 0.5);
        for (size_t group = 0; group < stage->groups; group++) {
            for (size_t i = stage->bounds[group]; i < stage->bounds[group + 1]; i++)
                if (is_low(stage, group, slot))
                    gain += stage->depth * jobs[stage->members[i]].cost;
        }
        if (stage->groups > 1 && is_low(stage, 0, slot) && is_low(stage, 1, slot))
            gain += gain_of_both;
        slots.figure[slot] = 100 * exp(gain);
        slots.figures[slot] = 40;
        slots_write(file, &slots, slot);
    }
    fclose(file);
    for (size_t group = 0; group < stage->groups; group++)
        write_record(stage, group, count);
}

/* Carries out the last run of the plan so far. */
static void carry_out_next(void) {
    struct stages stages = read_study();
    assert_false(stages.items[stages.count - 1].done);
    carry_out(&stages.items[stages.count - 1]);
    stages_close(&stages);
}

/* Carries out this number of runs, each planned after the one before. */
static void carry_out_runs(int count) {
    for (int i = 0; i < count; i++)
        carry_out_next();
}

/* Carries out the last run again. */
static void repeat_last(void) {
    struct stages stages = read_study();
    carry_out(&stages.items[stages.count - 1]);
    stages_close(&stages);
}

/* Carries out the first run: even and odd slots have these figures, each the mean of `figures`. */
static void carry_out_look(double even, double odd, unsigned figures) {
    carry_out_next();
    FILE *file = create("look", "slots.csv");
    struct slots slots = {.count = STAGES_LOOK, .begin = BEGIN, .length = 5};
    slots_write_heading(file);
    for (size_t slot = 0; slot < STAGES_LOOK; slot++) {
        slots.figure[slot] = slot % 2 == 0 ? even : odd;
        slots.figures[slot] = figures;
        slots_write(file, &slots, slot);
    }
    fclose(file);
}

/* Returns the text that `write` prints about the study; valid until the next call. */
static const char *print(void (*write)(const struct stages *stages, FILE *stream)) {
    static char *text;
    size_t size;
    struct stages stages = read_study();
    free(text);
    FILE *stream = open_memstream(&text, &size);
    write(&stages, stream);
    fclose(stream);
    stages_close(&stages);
    return text;
}

static void assert_says(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("'%s' does not say '%s'", text, part);
}

static void assert_lacks(const char *text, const char *part) {
    if (strstr(text, part))
        fail_msg("'%s' says '%s'", text, part);
}

static void first_plan_throttles_nothing(void **state) {
    (void)state;
    open_study(2);
    const char *plan = print(stages_print_plan);
    assert_says(plan, "run look takes 65s");
    assert_says(plan, "main s2 -- showstopper --quiet --attach 101 ");
    assert_says(plan, " -l 100% --duration 60s ");
    assert_says(plan, "--victim 'bench --figure {{x}' {out}");
    assert_lacks(plan, "together");
    close_study();
}

static void each_plan_extends_the_previous_one(void **state) {
    (void)state;
    char before[4096];
    open_study(3);
    jobs[1].cost = 0.3;
    snprintf(before, sizeof before, "%s", print(stages_print_plan));
    for (int i = 0; i < 3; i++) {
        carry_out_next();
        const char *plan = print(stages_print_plan);
        assert_memory_equal(plan, before, strlen(before));
        assert_that(strlen(plan) > strlen(before), ==, i < 2);
        snprintf(before, sizeof before, "%s", plan);
    }
    assert_says(before, "run together-1 takes 635s");
    assert_says(before, "--usual 100");
    assert_says(before, "run alone-101 takes 635s limit 1870s depth=0.5 slot_seconds=10");
    assert_lacks(before, "alone-100");
    struct stages stages = read_study();
    assert_true(stages_are_done(&stages));
    stages_close(&stages);
    close_study();
}

/* Writes run.json of the first run, with the columns that the plan has for it. */
static void write_columns(const char *plan) {
    const char *run = strstr(plan, "run look ");
    assert_non_null(run);
    char *line = strndup(run, strcspn(run, "\n"));
    char **words = ss_words_split(line, NULL, NULL);
    FILE *file = create("look", "run.json");
    struct ss_json json = {.stream = file};
    assert_non_null(words);
    ss_json_open(&json, NULL, '{');
    ss_json_text(&json, "status", "done");
    ss_json_open(&json, "columns", '{');
    for (char **word = words; *word; word++) {
        char *value = strchr(*word, '=');
        if (!value)
            continue;
        *value++ = '\0';
        ss_json_text(&json, *word, value);
    }
    ss_json_close(&json, '}');
    ss_json_close(&json, '}');
    fclose(file);
    free(words);
    free(line);
}

/* Returns options of a call that names nothing but the study and the victim. */
static struct stages_options bare_call(void) {
    return (struct stages_options){
        .folder = folder, .victim = options.victim, .tau = 53 * SS_MILLISECOND};
}

static int read_columns(struct stages_options *call, struct suspects *kept) {
    struct ss_error error = {0};
    *kept = (struct suspects){0};
    int status = study_columns_read(call, kept, &error);
    if (status < 0)
        print_message("%s\n", error.message);
    return status;
}

/* The last name is cut inside a character, as by the kernel. */
static void study_keeps_its_suspects_and_options(void **state) {
    (void)state;
    static const char *const names[] = {"a b", "c,d\\", "{x}\n'", "", "caf\xc3"};
    struct suspects kept;
    open_study(20);
    for (size_t i = 0; i < 5; i++)
        snprintf(suspects.items[i].name, sizeof suspects.items[i].name, "%s", names[i]);
    options.depth = 1.0 / 3;
    options.seed = 12;
    options.group = "system.slice/job";
    struct stages_options call = bare_call();
    assert_int_equal(read_columns(&call, &kept), 0);
    write_columns(print(stages_print_plan));
    char *before = strdup(print(stages_print_plan));
    assert_int_equal(read_columns(&call, &kept), 1);
    assert_near(call.depth, options.depth, 1e-9);
    assert_int_equal(call.seed, 12);
    assert_int_equal(kept.count, 20);
    for (size_t i = 0; i < kept.count; i++) {
        assert_int_equal(kept.items[i].pid, 100 + i);
        assert_int_equal(kept.items[i].started, 7);
        assert_string_equal(kept.items[i].name, i == 4 ? "caf?" : suspects.items[i].name);
    }
    /* The next call prints the same plan. */
    free(suspects.items);
    suspects = kept;
    options.depth = call.depth;
    assert_string_equal(print(stages_print_plan), before);
    free(before);
    close_study();
}

static void calls_that_contradict_the_study_are_refused(void **state) {
    (void)state;
    struct suspects kept;
    open_study(3);
    options.seed = 12;
    options.group = "job";
    write_columns(print(stages_print_plan));
    struct stages_options calls[7];
    size_t count = sizeof calls / sizeof *calls;
    for (size_t i = 0; i < count; i++)
        calls[i] = bare_call();
    calls[1].pids = "102,101,100";
    calls[2].pids = "100,101";
    calls[3].depth = 0.3;
    calls[4].seed = 13;
    calls[5].group = "other";
    calls[6].victim.lower = true;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(read_columns(&calls[i], &kept), i == 0 ? 1 : -1);
        suspects_free(&kept);
    }
    struct stages_options same = bare_call();
    same.pids = "100,101,102";
    same.depth = 0.2;
    same.seed = 12;
    same.group = "job";
    assert_int_equal(read_columns(&same, &kept), 1);
    suspects_free(&kept);
    close_study();
}

static void study_of_another_version_is_refused(void **state) {
    (void)state;
    struct suspects kept;
    struct ss_error error = {0};
    open_study(2);
    write_text("look", "run.json",
        "{\"status\": \"done\", \"columns\": {\"depth\": \"0\", \"suspects\": \"100@7+101@7\"}}\n");
    struct stages_options call = bare_call();
    kept = (struct suspects){0};
    assert_int_equal(study_columns_read(&call, &kept, &error), -1);
    assert_says(error.message, "another version began this study");
    suspects_free(&kept);
    close_study();
}

static void only_runs_to_come_need_their_suspects(void **state) {
    (void)state;
    struct suspects pending = {0};
    struct ss_error error = {0};
    open_study(3);
    jobs[1].cost = 0.3;
    carry_out_runs(2);
    struct stages stages = read_study();
    assert_int_equal(stages_add_pending(&stages, &pending, &error), 0);
    assert_int_equal(pending.count, 1);
    assert_int_equal(pending.items[0].pid, 101);
    suspects_free(&pending);
    carry_out(&stages.items[2]);
    stages_close(&stages);
    stages = read_study();
    assert_int_equal(stages_add_pending(&stages, &pending, &error), 0);
    assert_int_equal(pending.count, 0);
    stages_close(&stages);
    close_study();
}

static void slots_are_long_enough_for_ten_iterations(void **state) {
    (void)state;
    open_study(1);
    carry_out_look(3, 3, 1); /* one iteration in 4 s */
    assert_says(print(stages_print_plan), "slot_seconds=40");
    options.slot = 7 * SS_SECOND;
    assert_says(print(stages_print_plan), "slot_seconds=7 ");
    options.slot = 0;
    close_study();
}

static void slots_are_long_enough_for_fifty_rounds(void **state) {
    (void)state;
    open_study(1);
    carry_out_next();
    assert_says(print(stages_print_plan),
        "run together-1 takes 635s limit 1870s depth=0.2 slot_seconds=5 ");
    options.tau = 240 * SS_MILLISECOND;
    assert_says(print(stages_print_plan), "depth=0.2 slot_seconds=12 ");
    close_study();
}

static void forecast_precedes_the_first_throttle(void **state) {
    (void)state;
    open_study(2);
    assert_string_equal(print(answer_print_forecast), "");
    assert_lacks(print(answer_print), "noise");
    carry_out_next();
    assert_says(print(answer_print), "; the noise is 0.");
    const char *text = print(answer_print_forecast);
    assert_says(
        text, "The next run takes 10.5 minutes. In 9 of 10 cases, it finds suspects that cost ");
    assert_says(text, "loses 10 % of its CPU time");
    assert_lacks(text, "Warning");
    carry_out_next();
    assert_string_equal(print(answer_print_forecast), "");
    close_study();
}

/* Returns the cost that the forecast prints. */
static double forecast_percent(void) {
    static const char before[] = "it finds suspects that cost ";
    const char *cost = strstr(print(answer_print_forecast), before);
    assert_non_null(cost);
    return strtod(cost + strlen(before), NULL);
}

static void longer_slots_find_smaller_costs(void **state) {
    (void)state;
    open_study(2);
    carry_out_next();
    double usual = forecast_percent();
    options.tau = 400 * SS_MILLISECOND; /* slots of 20 s rather than 5 s */
    assert_near(forecast_percent() / usual, 0.5, 0.05);
    close_study();
}

static void noisy_figure_is_reported_before_the_first_throttle(void **state) {
    (void)state;
    open_study(2);
    carry_out_look(100, 70, 9);
    assert_says(print(answer_print_forecast), "Warning: the figure varies by 2");
    close_study();
}

static void suspects_that_do_not_use_less_while_throttled_are_not_testable(void **state) {
    (void)state;
    open_study(3);
    jobs[1].only_stops = true;
    jobs[2].catches_up = 0.999; /* shown as 0.0 % */
    carry_out_runs(2);
    assert_says(print(answer_print),
        "pid 101 (job1): not testable: it did not use less CPU time while it was throttled");
    assert_says(print(answer_print),
        "pid 102 (job2): not testable: it did not use less CPU time while it was throttled");
    close_study();
}

static void suspect_that_hardly_runs_is_not_testable(void **state) {
    (void)state;
    open_study(2);
    jobs[1].hardly_runs = true;
    carry_out_runs(2);
    assert_says(print(answer_print), "pid 101 (job1): not testable: it used hardly any CPU time\n");
    close_study();
}

static void answer_lists_confirmed_suspects_first(void **state) {
    (void)state;
    open_study(5);
    jobs[1].cost = 0.15;
    jobs[2].cost = -0.2;
    jobs[3].cost = 0.1, jobs[3].catches_up = 0.9;
    jobs[4].cost = 0.12, jobs[4].returns_later = true;
    carry_out_runs(2);
    const char *text = print(answer_print);
    assert_memory_equal(text, "pid 101 (job1): withholding 20 % of its CPU time gives 3", 56);
    assert_says(text, " more; all of it costs about 1");
    assert_says(text, ", by extrapolation; the noise is 0.");
    assert_says(text, " % per slot\npid 104 (job4): ");
    assert_says(text, "; but throttling only shifts its work: it did ");
    assert_says(
        text, "pid 102 (job2): the service depends on it: withholding 20 % of its CPU time costs ");
    assert_says(text, "pid 103 (job3): not testable: it lost only 2.0 % of its CPU time");
    assert_says(text, "pid 100 (job0): no effect was found; all of it costs at most ");
    assert_says(text, "Costs are valid while the other suspects run\n");
    assert_lacks(text, "Doubtful");
    close_study();
}

/* The second suspect costs the victim more while it uses what the first one leaves. */
static void suspect_that_holds_back_another_may_be_needed_for_that(void **state) {
    (void)state;
    open_study(3);
    jobs[0].cost = -0.2;
    jobs[1].cost = 0.3, jobs[1].fills_gaps = 0.5;
    carry_out_runs(2);
    assert_says(print(answer_print),
        "memory that they share; or it holds back pid 101 (job1), found to hurt, which used 3");
    assert_says(print(answer_print), " % more CPU time meanwhile\n");
    close_study();
}

static void suspect_may_be_needed_although_a_harmless_one_uses_more_meanwhile(void **state) {
    (void)state;
    open_study(3);
    jobs[0].cost = -0.2;
    jobs[1].cost = 0.3;
    jobs[2].fills_gaps = 0.5;
    carry_out_runs(2);
    assert_says(print(answer_print), "While pid 100 (job0) was throttled, pid 102 (job2) used 3");
    assert_says(print(answer_print), "memory that they share\n");
    close_study();
}

static void suspect_may_be_needed_although_another_uses_more_by_chance(void **state) {
    (void)state;
    open_study(3);
    jobs[0].cost = -0.2;
    jobs[1].cost = 0.3, jobs[1].varies = 0.3;
    carry_out_runs(2);
    struct stages stages = read_study();
    assert_that(stages.items[1].effects.crossed[1][0], >, 0.003);
    stages_close(&stages);
    assert_says(print(answer_print), "memory that they share\n");
    close_study();
}

/* The change is relative to a mean in which half of the slots have more CPU time. */
static void change_of_another_suspects_cpu_time_is_reported(void **state) {
    (void)state;
    open_study(3);
    jobs[2].fills_gaps = 0.5;
    carry_out_runs(2);
    const char *text = print(answer_print);
    assert_says(text, "\nWhile pid 100 (job0) was throttled, pid 102 (job2) used 3");
    assert_says(text, " % more CPU time\n");
    assert_lacks(text, "pid 101 (job1) used");
    assert_lacks(text, "While pid 102");
    text = print(answer_print_json);
    const char *row = "\"run\": \"together-1\",\n      \"pid\": 102,\n      \"throttled\": 100,\n"
                      "      \"change\": 0.3";
    assert_says(text, row);
    row = strstr(text, row);
    assert_memory_equal(strstr(row, "\"significant\""), "\"significant\": true", 19);
    assert_says(text, "\"notes\": [\n    \"While pid 100 ");
    close_study();
}

/*
 * A suspect that shares CPUs with the first one gets as much from it as it loses itself, so its
 * mean is the usual one. That is not work done later.
 */
static void cpu_time_of_a_throttled_neighbor_is_not_shifted_work(void **state) {
    (void)state;
    open_study(3);
    jobs[2].fills_gaps = 0.2;
    jobs[2].cost = 0.15;
    carry_out_runs(2);
    const char *text = print(answer_print);
    assert_memory_equal(text, "pid 102 (job2): withholding 20 %", 32);
    assert_lacks(text, "only shifts");
    assert_lacks(text, "has risen");
    close_study();
}

static void load_that_has_risen_is_not_shifted_work(void **state) {
    (void)state;
    open_study(3);
    jobs[1].grows = 0.18;
    jobs[1].cost = 0.15;
    carry_out_runs(2);
    const char *text = print(answer_print);
    assert_says(text, "; its load has risen since the run look, so it is unknown");
    assert_lacks(text, "only shifts");
    close_study();
}

static void suspect_that_hurts_is_confirmed_alone(void **state) {
    (void)state;
    open_study(2);
    jobs[0].cost = 0.2;
    carry_out_runs(2);
    assert_lacks(print(answer_print), "alone");
    carry_out_next();
    assert_says(print(answer_print), "; alone, all of it costs about 1");
    jobs[0].cost = 0;
    repeat_last();
    assert_says(print(answer_print), "; alone, no effect was found");
    close_study();
}

static void suspect_may_be_untestable_alone(void **state) {
    (void)state;
    open_study(2);
    jobs[0].cost = 0.2;
    carry_out_runs(2);
    jobs[0].only_stops = true;
    carry_out_next();
    assert_says(print(answer_print), "; alone, not testable");
    jobs[0].cost = 0;
    repeat_last();
    assert_says(print(answer_print), "; alone, not testable");
    /* A record without samples gives no CPU time. */
    jobs[0].cost = 0.2;
    repeat_last();
    write_text(
        "alone-100/s1", "samples.csv", "time,elapsed_seconds,target,load,error,duty,counted\n");
    assert_says(print(answer_print), "; alone, not testable");
    assert_lacks(print(answer_print), "nan");
    close_study();
}

static void suspect_may_be_needed_alone(void **state) {
    (void)state;
    open_study(2);
    jobs[0].cost = 0.2;
    carry_out_runs(2);
    jobs[0].cost = -0.2;
    carry_out_next();
    assert_says(print(answer_print), "; alone, the service depends on it");
    close_study();
}

static void study_without_effects_says_so(void **state) {
    (void)state;
    open_study(2);
    carry_out_runs(2);
    const char *text = print(answer_print), *first = "No suspect was found to hurt the victim; ";
    double percent;
    assert_memory_equal(text, first, strlen(first));
    assert_int_equal(sscanf(text + strlen(first), "the noise is %lf %% per slot\n", &percent), 1);
    /* Figures are uniformly distributed over 2 %. */
    assert_float_equal(percent, 2 / sqrt(12), 0.1);
    const char *noise = strstr(print(answer_print_json), "\"noise\": ");
    assert_non_null(noise);
    assert_float_equal(strtod(noise + strlen("\"noise\": "), NULL), percent / 100, 1e-4);
    assert_says(print(answer_print_json), "\"verdict\": \"no effect\"");
    assert_says(print(answer_print_json), "\"complete\": true");
    close_study();
}

/* Gives the last run this figure in one of 20 slots, and none in the others. */
static void replace_figures(double figure) {
    struct stages stages = read_study();
    const struct stage *stage = &stages.items[stages.count - 1];
    struct slots slots = {.count = stage->codes.slots, .begin = BEGIN, .length = stage->slot};
    FILE *file = create(stage->name, "slots.csv");
    slots_write_heading(file);
    for (size_t slot = 0; slot < slots.count; slot++) {
        slots.figure[slot] = slot % 20 == 0 ? figure : NAN;
        slots.figures[slot] = slot % 20 == 0;
        slots_write(file, &slots, slot);
    }
    fclose(file);
    stages_close(&stages);
}

static void assert_missing(bool expected) {
    struct stages stages = read_study();
    assert_int_equal(answer_is_missing(&stages), expected);
    stages_close(&stages);
}

static void study_without_an_estimate_does_not_acquit_suspects(void **state) {
    static const double figures[] = {0, -3, 100};
    (void)state;
    open_study(2);
    carry_out_next();
    assert_memory_equal(
        print(answer_print), "The question is not answered yet: no suspect was", 48);
    assert_says(print(answer_print), "pid 100 (job0): not measured yet\n");
    assert_missing(false);
    carry_out_next();
    assert_missing(false);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        replace_figures(figures[i]);
        const char *text = print(answer_print);
        assert_memory_equal(text,
            "The question is not answered: too few slots have a figure above 0 for an estimate; "
            "the noise is ",
            95);
        assert_says(text, "pid 100 (job0): no estimate\n");
        assert_says(text, "together-1: too few slots with a figure above 0 for an estimate\n");
        assert_says(print(answer_print_json), "\"complete\": false");
        assert_missing(true);
    }
    close_study();
}

static void remove_records(const char *run) {
    char path[128];
    for (int group = 1; group <= 2; group++) {
        snprintf(path, sizeof path, "%s/%s/s%d/samples.csv", folder, run, group);
        assert_int_equal(unlink(path), 0);
    }
}

static void suspects_without_a_record_are_not_acquitted(void **state) {
    (void)state;
    open_study(2);
    carry_out_runs(2);
    remove_records("together-1");
    const char *text = print(answer_print);
    assert_memory_equal(
        text, "The question is not answered: no suspect could be tested; the noise is ", 71);
    assert_says(text, "pid 100 (job0): not testable: its CPU time was not recorded\n");
    assert_says(print(answer_print_json), "\"complete\": false");
    assert_says(print(answer_print_json), "\"change\": null,\n      \"significant\": null");
    assert_missing(true);
    close_study();
}

static void untestable_suspects_are_counted_in_the_first_line(void **state) {
    (void)state;
    open_study(3);
    jobs[1].only_stops = true;
    carry_out_runs(2);
    assert_memory_equal(print(answer_print),
        "No suspect was found to hurt the victim; 1 of 3 could not be tested; the noise is ", 82);
    assert_missing(false);
    close_study();
}

/* With ten suspects, other pairs are throttled in the same slots together. */
static void combined_effect_names_all_pairs_that_may_have_it(void **state) {
    (void)state;
    open_study(10);
    gain_of_both = 0.1;
    carry_out_runs(2);
    const char *text = strstr(print(answer_print), "The combined effect of ");
    assert_non_null(text);
    assert_says(text, "pid 100 (job0) and pid 101 (job1)");
    assert_says(text, ", or of pid 1");
    assert_null(strstr(text + 1, "The combined effect of "));
    close_study();
}

static void shorter_iteration_times_count_as_an_improvement(void **state) {
    (void)state;
    open_study(2);
    options.victim.lower = true;
    jobs[0].cost = -0.2; /* iterations are shorter while it is throttled */
    carry_out_runs(2);
    const char *text = print(answer_print);
    assert_says(
        text, "pid 100 (job0): withholding 20 % of its CPU time makes the victim's times 3");
    assert_says(text, ") shorter; all of it makes them about 2");
    assert_says(text, " % longer, by extrapolation");
    close_study();
}

static void large_costs_are_not_printed_in_exponential_notation(void **state) {
    (void)state;
    open_study(2);
    options.victim.lower = true;
    jobs[0].cost = -1.2;
    carry_out_runs(2);
    assert_says(print(answer_print), "; all of it makes them about 23");
    assert_lacks(print(answer_print), "e+");
    close_study();
}

static void groups_that_hurt_are_split(void **state) {
    (void)state;
    open_study(40);
    jobs[17].cost = 0.3;
    carry_out_runs(2);
    const char *plan = print(stages_print_plan);
    assert_says(plan, "run together-2 ");
    struct stages stages = read_study();
    assert_int_equal(stages.items[1].groups, 16);
    /* Groups have two or three suspects; 17, 18 and 19 form one. */
    assert_int_equal(stages.items[2].groups, 3);
    assert_int_equal(stages.items[2].members[0], 17);
    stages_close(&stages);
    assert_says(print(answer_print), ", in a group of ");
    carry_out_next();
    assert_says(print(stages_print_plan), "run alone-117 ");
    const char *text = print(answer_print);
    assert_memory_equal(text, "pid 117 (job17): withholding 20 %", 33);
    close_study();
}

/* Another stage would throttle the same groups again. */
static void groups_that_all_hurt_are_not_split(void **state) {
    (void)state;
    open_study(32);
    for (size_t i = 0; i < 32; i++)
        jobs[i].cost = 0.1;
    carry_out_runs(2);
    assert_lacks(print(stages_print_plan), "together-2");
    assert_says(print(answer_print), ", in a group of 2");
    assert_says(print(answer_print_json), "\"complete\": true");
    close_study();
}

/* In each stage all groups but one hurt. */
static void groups_are_split_at_most_three_times(void **state) {
    (void)state;
    open_study(250);
    for (size_t i = 0; i < 300; i++)
        jobs[i].cost = 0.02;
    carry_out_next();
    for (int number = 1; number <= 4; number++) {
        struct stages stages = read_study();
        const struct stage *stage = &stages.items[stages.count - 1];
        for (size_t i = 0; i < stage->bounds[1]; i++)
            jobs[stage->members[i]].cost = 0;
        stages_close(&stages);
        carry_out_next();
    }
    const char *plan = print(stages_print_plan);
    assert_says(plan, "run together-4 ");
    assert_lacks(plan, "run  ");
    assert_says(print(answer_print), ", in a group of ");
    assert_says(print(answer_print_json), "\"complete\": true");
    close_study();
}

static int write_page(const char *page, struct ss_error *error) {
    struct stages stages = read_study();
    int status = answer_write_page(&stages, page, error);
    stages_close(&stages);
    return status;
}

static void page_has_the_question_and_the_answer(void **state) {
    (void)state;
    open_study(2);
    jobs[0].cost = 0.2;
    carry_out_runs(2);
    char page[80], path[100], text[20000];
    struct ss_error error = {0};
    snprintf(page, sizeof page, "%s/report", folder);
    assert_int_equal(write_page(page, &error), 0);
    snprintf(path, sizeof path, "%s/report.html", page);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_says(text, "<title>Who is hurting me?</title>");
    const char *answer = strstr(text, "pid 100 (job0): withholding 20 % of its CPU time gives");
    assert_non_null(answer);
    assert_true(answer < strstr(text, "pid 101"));
    snprintf(path, sizeof path, "%s/suspects.csv", page);
    assert_int_equal(access(path, R_OK), 0);
    close_study();
}

static void page_that_does_not_fit_on_the_disk_is_reported(void **state) {
    static const char *const names[] = {"suspects.csv", "crossed.csv", "report.html"};
    (void)state;
    SKIP_UNLESS_FULL();
    open_study(2);
    carry_out_runs(2);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char page[96], path[120], message[160];
        struct ss_error error = {0};
        snprintf(page, sizeof page, "%s/page%zu", folder, i);
        snprintf(path, sizeof path, "%s/%s", page, names[i]);
        snprintf(message, sizeof message, "%s: No space left on device", path);
        mkdir(page, 0777);
        assert_int_equal(symlink("/dev/full", path), 0);
        assert_int_equal(write_page(page, &error), -1);
        assert_string_equal(error.message, message);
    }
    close_study();
}

static void page_that_cannot_be_replaced_is_kept(void **state) {
    (void)state;
    struct ss_error error = {0};
    struct rlimit before, none;
    struct stat old, now;
    char page[80], path[100];
    open_study(2);
    carry_out_runs(2);
    snprintf(page, sizeof page, "%s/report", folder);
    snprintf(path, sizeof path, "%s/suspects.csv", page);
    assert_int_equal(write_page(page, &error), 0);
    assert_int_equal(stat(path, &old), 0);
    getrlimit(RLIMIT_FSIZE, &before);
    none = before;
    none.rlim_cur = 0;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    int status = write_page(page, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, -1);
    assert_says(error.message, "suspects.csv: File too large");
    assert_int_equal(stat(path, &now), 0);
    assert_int_equal(now.st_size, old.st_size);
    close_study();
}

UNIT_MAIN(cmocka_unit_test(first_plan_throttles_nothing),
    cmocka_unit_test(each_plan_extends_the_previous_one),
    cmocka_unit_test(study_keeps_its_suspects_and_options),
    cmocka_unit_test(calls_that_contradict_the_study_are_refused),
    cmocka_unit_test(study_of_another_version_is_refused),
    cmocka_unit_test(only_runs_to_come_need_their_suspects),
    cmocka_unit_test(slots_are_long_enough_for_ten_iterations),
    cmocka_unit_test(slots_are_long_enough_for_fifty_rounds),
    cmocka_unit_test(forecast_precedes_the_first_throttle),
    cmocka_unit_test(longer_slots_find_smaller_costs),
    cmocka_unit_test(noisy_figure_is_reported_before_the_first_throttle),
    cmocka_unit_test(suspects_that_do_not_use_less_while_throttled_are_not_testable),
    cmocka_unit_test(suspect_that_hardly_runs_is_not_testable),
    cmocka_unit_test(answer_lists_confirmed_suspects_first),
    cmocka_unit_test(suspect_that_holds_back_another_may_be_needed_for_that),
    cmocka_unit_test(suspect_may_be_needed_although_a_harmless_one_uses_more_meanwhile),
    cmocka_unit_test(suspect_may_be_needed_although_another_uses_more_by_chance),
    cmocka_unit_test(change_of_another_suspects_cpu_time_is_reported),
    cmocka_unit_test(cpu_time_of_a_throttled_neighbor_is_not_shifted_work),
    cmocka_unit_test(load_that_has_risen_is_not_shifted_work),
    cmocka_unit_test(suspect_that_hurts_is_confirmed_alone),
    cmocka_unit_test(suspect_may_be_untestable_alone),
    cmocka_unit_test(suspect_may_be_needed_alone), cmocka_unit_test(study_without_effects_says_so),
    cmocka_unit_test(study_without_an_estimate_does_not_acquit_suspects),
    cmocka_unit_test(suspects_without_a_record_are_not_acquitted),
    cmocka_unit_test(untestable_suspects_are_counted_in_the_first_line),
    cmocka_unit_test(combined_effect_names_all_pairs_that_may_have_it),
    cmocka_unit_test(shorter_iteration_times_count_as_an_improvement),
    cmocka_unit_test(large_costs_are_not_printed_in_exponential_notation),
    cmocka_unit_test(groups_that_hurt_are_split),
    cmocka_unit_test(groups_that_all_hurt_are_not_split),
    cmocka_unit_test(groups_are_split_at_most_three_times),
    cmocka_unit_test(page_has_the_question_and_the_answer),
    cmocka_unit_test(page_that_does_not_fit_on_the_disk_is_reported),
    cmocka_unit_test(page_that_cannot_be_replaced_is_kept))
