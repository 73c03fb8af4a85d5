/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of trace transformations from a user's view: options in, text out. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"
#include "trace/text.h"
#include "trace_options.h"
#include "trace_statistics.h"
#include "unit.h"

#define ARGUMENTS_MAX 16

struct text_sink {
    struct ss_trace_sink sink;
    FILE *stream;
};

static int take_text(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    (void)error;
    ss_trace_text_write(((struct text_sink *)sink)->stream, record);
    return 0;
}

static int end_text(struct ss_trace_sink *sink, struct ss_error *error) {
    (void)sink;
    (void)error;
    return 0;
}

/* Reorders `copies`: moves file names to the front. The option store owns the strings. */
static int parse(const char *const *words, struct sstrace_request *request, char **copies,
    struct ss_error *error) {
    static struct ss_option_store store;
    ss_option_store_free(&store);
    *copies++ = (char *)"sstrace";
    for (char **copy = copies; (*copy = NULL, *words); copy++, words++)
        *copy = (char *)ss_option_store_add(&store, *words);
    return sstrace_request_parse(copies - 1, request, &store, error);
}

static int run(const struct sstrace_request *request, const char *text, struct ss_trace_sink *end,
    struct ss_error *error) {
    struct sstrace_stage last, stages[ARGUMENTS_MAX];
    struct ss_trace_sink *next = &last.sink;
    sstrace_stage_open_last(&last, end);
    for (size_t i = request->transform_count; i-- > 0; next = &stages[i].sink)
        assert_int_equal(sstrace_stage_open(&stages[i], &request->transforms[i], next, error), 0);
    int result;
    if (request->generation.generator) {
        result = sstrace_source_run(request, next, error);
    } else {
        FILE *stream = fmemopen((void *)text, strlen(text), "r");
        result = ss_trace_text_read(stream, "text", next, error);
        fclose(stream);
        result = result == 0 ? next->end(next, error) : -1;
    }
    for (size_t i = 0; i < request->transform_count; i++)
        sstrace_stage_close(&stages[i]);
    return result;
}

/* Returns the output with commas for line ends, or NULL if refused. */
static char *transform(const char *text, const char *const *words, struct ss_error *error) {
    struct sstrace_request request;
    char *copies[ARGUMENTS_MAX], *output = NULL;
    size_t size;
    *error = (struct ss_error){0};
    int result = parse(words, &request, copies, error);
    if (result == 0) {
        struct text_sink sink = {{take_text, end_text}, open_memstream(&output, &size)};
        result = run(&request, text, &sink.sink, error);
        fclose(sink.stream);
    }
    if (result != 0) {
        free(output);
        return NULL;
    }
    for (char *at = output; *at; at++)
        *at = *at == '\n' ? (at[1] ? ',' : '\0') : *at;
    return output;
}

static void assert_becomes(const char *text, const char *const *words, const char *expected) {
    struct ss_error error;
    char *output = transform(text, words, &error);
    if (!output)
        fail_msg("refused: %s", error.message);
    assert_string_equal(output, expected);
    free(output);
}

static void assert_refused(const char *text, const char *const *words, const char *part) {
    struct ss_error error;
    char *output = transform(text, words, &error);
    assert_null(output);
    if (!strstr(error.message, part))
        fail_msg("message without '%s': %s", part, error.message);
}

#define WORDS(...)                                                                                 \
    (const char *const[]) {                                                                        \
        __VA_ARGS__, NULL                                                                          \
    }

static void scale_option_stretches_times(void **state) {
    (void)state;
    assert_becomes("0 0\n3s 1\n", WORDS("--scale", "1/3"), "0 0,1s 1");
    assert_becomes("0 free\n1s 1\n", WORDS("--scale", "2.5"), "0 free,2500m 1");
    assert_refused("0 0\n1s 1\n", WORDS("--scale", "1000000000000"), "longer than");
    assert_refused("0 0\n", WORDS("--scale", "0"), "more than 0");
}

static void offset_option_moves_the_beginning(void **state) {
    (void)state;
    assert_becomes("0 0\n3s 1\n", WORDS("--offset", "2s"), "2s 0,5s 1");
    assert_becomes("0 0\n3s 1\n", WORDS("--offset", "+2s"), "2s 0,5s 1");
    assert_becomes("0 0\n4s 1\n", WORDS("--offset", "-1s"), "0 0.25,3s 1");
    assert_refused("0 0\n4s 1\n", WORDS("--offset", "-4s"), "ends at 4 s");
    assert_becomes("0 0\n3s 1\n", WORDS("--offset", "2"), "2s 0,5s 1");
}

static void clip_option_keeps_the_given_section(void **state) {
    (void)state;
    const char *saw = "0 0\n4s 1\n8s 0\n";
    assert_becomes(saw, WORDS("--clip", "1s,6s"), "0 0.25,3s 1,5s 0.5");
    assert_becomes(saw, WORDS("--clip", "4s,8s"), "0 1,4s 0");
    assert_becomes(saw, WORDS("--clip", "5s,1M"), "0 0.75,3s 0");
    assert_becomes(saw, WORDS("--clip", "1s,2s"), "0 0.25,1s 0.5");
    /* At a step on an edge, only the inner side remains. */
    const char *steps = "0 0\n2s 0\n2s 1\n4s 1\n4s 0.5\n";
    assert_becomes(steps, WORDS("--clip", "2s,4s"), "0 1,2s 1");
    assert_becomes(steps, WORDS("--clip", "1s,3s"), "0 0,1s 0,1s 1,2s 1");
    /* The first record's load also holds before its time. */
    assert_becomes("5s 0.5\n6s 1\n", WORDS("--clip", "1s,6s"), "0 0.5,4s 0.5,5s 1");
    assert_becomes("0 0.5\n1s free\n5s 1\n", WORDS("--clip", "2s,3s"), "0 free,1s free");
    assert_becomes("0 0.5\n3s free\n5s 1\n", WORDS("--clip", "1s,4s"), "0 0.5,2s free,3s free");
    assert_refused(saw, WORDS("--clip", "8s,9s"), "ends at 8 s");
    assert_refused(saw, WORDS("--clip", "2s,2s"), "not after");
    assert_refused(saw, WORDS("--clip", "2s"), "FROM,TO");
}

static void repeat_option_omits_later_warm_ups(void **state) {
    (void)state;
    assert_becomes("0 0\n1s 1\n", WORDS("--repeat", "3"), "0 0,1s 1,1s 0,2s 1,2s 0,3s 1");
    assert_becomes("0 0\n1s 1\n", WORDS("--repeat", "1"), "0 0,1s 1");
    /* The warm-up is not repeated. */
    assert_becomes("0 free\n2s 0\n3s 1\n", WORDS("--repeat", "2"), "0 free,2s 0,3s 1,3s 0,4s 1");
    assert_refused("1s 0\n", WORDS("--repeat", "2"), "the trace ends at its first load");
    assert_refused("0 free\n10M 1\n", WORDS("--repeat", "2"), "the trace ends at its first load");
    assert_refused(
        "0 free\n1M free\n10M free\n", WORDS("--repeat", "2"), "the trace has only free sections");
    assert_refused("0 0\n1s 1\n", WORDS("--repeat", "0"), "the count must be more than 0");
    assert_refused("0 0\n1s 1\n", WORDS("--repeat", "50000001"),
        "more than 100000000 records: repeat it at most 50000000 times");
    assert_refused("0 0\n1d 1\n", WORDS("--repeat", "213504"), "repeat it at most 213503 times");
    assert_refused("0 0\n1s 1\n", WORDS("--repeat", "99999999999"), "at most 50000000 times");
}

static void load_scale_option_multiplies_loads(void **state) {
    (void)state;
    assert_becomes("0 0.2\n1s 1\n", WORDS("--load-scale", "1/2"), "0 0.1,1s 0.5");
    assert_becomes("0 0.25\n1s free\n2s 0\n", WORDS("--load-scale", "2"), "0 0.5,1s free,2s 0");
    assert_refused("0 0.2\n1s 1\n", WORDS("--load-scale", "1.5"), "--load-clamp");
    assert_becomes("0 0.0000001\n1s 1\n", WORDS("--load-scale", "0.001"), "0 0,1s 0.001");
}

/* Clamping a slope adds a corner, so the part within the bounds does not change. */
static void load_clamp_option_limits_loads(void **state) {
    (void)state;
    assert_becomes("0 0\n10s 1\n", WORDS("--load-clamp", "20%,70%"), "0 0.2,2s 0.2,7s 0.7,10s 0.7");
    assert_becomes("0 1\n10s 0\n", WORDS("--load-clamp", "20%,70%"), "0 0.7,3s 0.7,8s 0.2,10s 0.2");
    assert_becomes("0 0.5\n10s 0.6\n", WORDS("--load-clamp", "0,1"), "0 0.5,10s 0.6");
    assert_becomes(
        "0 1\n1s 1\n1s 0\n2s 0\n", WORDS("--load-clamp", "20%,70%"), "0 0.7,1s 0.7,1s 0.2,2s 0.2");
    assert_becomes(
        "0 0.5\n10s 1\n", WORDS("--load-scale", "2", "--load-clamp", "0,1"), "0 1,10s 1");
    assert_becomes(
        "0 0\n10s 1\n", WORDS("--load-scale", "2", "--load-clamp", "0,1"), "0 0,5s 1,10s 1");
    assert_becomes(
        "0 1\n4s free\n5s 0\n", WORDS("--load-clamp", "20%,70%"), "0 0.7,4s free,5s 0.2");
    assert_refused("0 0\n", WORDS("--load-clamp", "70%,20%"), "less than");
}

static void steps_option_holds_each_load_until_the_next(void **state) {
    (void)state;
    assert_becomes("0 0\n1s 1\n3s 0.5\n", WORDS("--steps"), "0 0,1s 0,1s 1,3s 1,3s 0.5");
    assert_becomes("0 0\n1s 0\n1s 1\n", WORDS("--steps"), "0 0,1s 0,1s 1");
    assert_becomes("0 0.5\n1s free\n2s 1\n", WORDS("--steps"), "0 0.5,1s free,2s 1");
}

static void resample_option_holds_the_mean_of_each_window(void **state) {
    (void)state;
    assert_becomes("0 0\n4s 1\n", WORDS("--resample", "2s"), "0 0.25,2s 0.25,2s 0.75,4s 0.75,4s 1");
    assert_becomes(
        "0 0\n3s 0\n3s 1\n4s 1\n", WORDS("--resample", "2s"), "0 0,2s 0,2s 0.5,4s 0.5,4s 1");
    /* The last window is as long as the rest of the trace. */
    assert_becomes("0 1\n3s 1\n", WORDS("--resample", "2s"), "0 1,2s 1,2s 1,3s 1");
    /* Free sections keep their place and do not count. */
    assert_becomes("0 free\n1s 1\n3s 1\n3s free\n7s 0\n8s 0\n", WORDS("--resample", "2s"),
        "0 free,1s 1,2s 1,2s 1,3s 1,3s free,7s 0,8s 0,8s 0");
    assert_becomes("2s 1\n3s 1\n", WORDS("--resample", "2s"), "0 1,2s 1,2s 1,3s 1");
    assert_refused("0 0\n", WORDS("--resample", "0"), "more than 0");
    assert_refused("0 0\n1s 0\n", WORDS("--resample", "10n"), "choose a longer step");
}

/* The integral must not depend on the window. */
static void resampling_keeps_the_total_work(void **state) {
    (void)state;
    static const char *const steps[] = {"1s", "7s", "333m", "1M", "1h"};
    struct sstrace_statistics before = sstrace_statistics_open();
    struct ss_error error = {0};
    struct sstrace_request request;
    char *copies[ARGUMENTS_MAX];
    const char *random = "--random=5,interpolate=yes,step=1.7s,length=100s";
    assert_int_equal(parse(WORDS(random), &request, copies, &error), 0);
    assert_int_equal(run(&request, NULL, &before.sink, &error), 0);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct sstrace_statistics after = sstrace_statistics_open();
        assert_int_equal(parse(WORDS(random, "--resample", steps[i]), &request, copies, &error), 0);
        assert_int_equal(run(&request, NULL, &after.sink, &error), 0);
        assert_near(after.work, before.work, 1e-9);
        assert_near(after.duration, before.duration, 1e-9);
    }
}

static void transformations_apply_in_command_line_order(void **state) {
    (void)state;
    assert_becomes("0 0\n4s 1\n", WORDS("--scale", "2", "--clip", "0,4s"), "0 0,4s 0.5");
    assert_becomes("0 0\n4s 1\n", WORDS("--clip", "0,4s", "--scale", "2"), "0 0,8s 1");
}

static void staircase_can_be_symmetric(void **state) {
    (void)state;
    assert_becomes(NULL, WORDS("--staircase", "90%:10%:40%:1M", "--symmetric"),
        "0 0.9,1M 0.9,1M 0.5,2M 0.5,2M 0.1,3M 0.1,3M 0.1,4M 0.1,4M 0.5,5M 0.5,5M 0.9,6M 0.9");
    assert_becomes(NULL, WORDS("--staircase", "0:1:1:1s,warmup=5s"), "0 free,5s 0,6s 0,6s 1,7s 1");
    assert_becomes(NULL, WORDS("--staircase", "0.9:0.3:0.2:1s"),
        "0 0.9,1s 0.9,1s 0.7,2s 0.7,2s 0.5,3s 0.5,3s 0.3,4s 0.3");
    assert_refused(NULL, WORDS("--staircase", "0:1:1"), "'0:1:1' is not FROM:TO:STEP:HOLD");
    assert_refused(NULL, WORDS("--staircase", "0:1:0:3s"), "STEP");
    assert_refused("0 0\n", WORDS("--symmetric"), "--staircase");
}

static void constant_option_makes_a_constant_load(void **state) {
    (void)state;
    assert_becomes(NULL, WORDS("--constant", "30%"), "0 0.3,1M 0.3");
    assert_becomes(NULL, WORDS("--constant", "30%,length=0"), "0 0.3");
    assert_refused(NULL, WORDS("--constant", "130%"), "--constant");
}

static void sine_option_follows_amplitude_period_and_phase(void **state) {
    (void)state;
    assert_becomes(NULL, WORDS("--sine", "0.5,amplitude=0.5,period=4s,every=1s"),
        "0 0.5,1s 1,2s 0.5,3s 0,4s 0.5");
    assert_becomes(NULL,
        WORDS("--sine", "0.5,amplitude=0.5,period=4s,every=3s,length=4s,phase=0.25"),
        "0 1,3s 0.5,4s 1");
}

/* Uses the same random sequence as showstopper -t random. */
static void random_trace_depends_only_on_its_seed(void **state) {
    (void)state;
    struct ss_error error;
    char *first = transform(NULL, WORDS("--random", "7,length=1M"), &error);
    char *again = transform(NULL, WORDS("--random", "7,length=1M"), &error);
    char *other = transform(NULL, WORDS("--random", "8,length=1M"), &error);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    free(first);
    free(again);
    free(other);
    assert_becomes(NULL, WORDS("--random", "7,min=20%,max=20%,step=2s,length=3s"),
        "0 0.2,2s 0.2,2s 0.2,3s 0.2");
    /* A multiple of the step may exceed the longest time. */
    assert_becomes(NULL, WORDS("--random", "7,min=20%,max=20%,step=150000d,length=213503d"),
        "0 0.2,150000d 0.2,150000d 0.2,213503d 0.2");
    assert_becomes(NULL,
        WORDS("--random", "7,min=20%,max=20%,step=150000d,length=213503d,interpolate=yes"),
        "0 0.2,150000d 0.2,213503d 0.2");
    assert_refused(NULL, WORDS("--random", "7,min=30%,max=20%"), "swap them");
    assert_refused(NULL, WORDS("--random", "7,length=10000d,step=1m"), "records");
}

static void bursts_have_the_expected_mean_load(void **state) {
    (void)state;
    struct sstrace_statistics statistics = sstrace_statistics_open();
    struct ss_error error = {0};
    struct sstrace_request request;
    char *copies[ARGUMENTS_MAX];
    assert_int_equal(parse(WORDS("--bursts", "3,min=0,max=1,every=9s,lasting=1s,length=1d"),
                         &request, copies, &error),
        0);
    assert_int_equal(run(&request, NULL, &statistics.sink, &error), 0);
    /* The load is 1 for a tenth of the time; with 8640 bursts, two standard deviations are 2 %. */
    assert_that(statistics.mean, >, 0.098);
    assert_that(statistics.mean, <, 0.102);
    assert_int_equal(statistics.before.time, 86400 * SS_SECOND);
    assert_that(statistics.min, ==, 0);
    assert_that(statistics.largest, ==, 1);
}

static void bad_sstrace_command_lines_are_refused(void **state) {
    (void)state;
    assert_refused("", WORDS("--plto"), "did you mean '--plot'?");
    assert_refused("", WORDS("--check", "--dump"), "choose one");
    assert_refused("", WORDS("--sine", "0.5", "--random", "3"), "use one generator");
    assert_refused("", WORDS("--sine", "0.5", "file"), "unexpected argument 'file'");
    assert_refused("", WORDS("--scale"), "requires a value");
    assert_refused("", WORDS("--check=3"), "takes no value");
    assert_refused("", WORDS("-x"), "-x");
    assert_refused("", WORDS("--gaps", "no"), "--gaps");
    assert_refused("", WORDS("--stat", "-o", "file"), "-o");
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(scale_option_stretches_times),
    cmocka_unit_test(offset_option_moves_the_beginning),
    cmocka_unit_test(clip_option_keeps_the_given_section),
    cmocka_unit_test(repeat_option_omits_later_warm_ups),
    cmocka_unit_test(load_scale_option_multiplies_loads),
    cmocka_unit_test(load_clamp_option_limits_loads),
    cmocka_unit_test(steps_option_holds_each_load_until_the_next),
    cmocka_unit_test(resample_option_holds_the_mean_of_each_window),
    cmocka_unit_test(resampling_keeps_the_total_work),
    cmocka_unit_test(transformations_apply_in_command_line_order),
    cmocka_unit_test(staircase_can_be_symmetric),
    cmocka_unit_test(constant_option_makes_a_constant_load),
    cmocka_unit_test(sine_option_follows_amplitude_period_and_phase),
    cmocka_unit_test(random_trace_depends_only_on_its_seed),
    cmocka_unit_test(bursts_have_the_expected_mean_load),
    cmocka_unit_test(bad_sstrace_command_lines_are_refused))
