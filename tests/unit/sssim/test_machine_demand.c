/* SPDX-License-Identifier: Apache-2.0 */
/* The demand of instances of each class on the simulated machine. */

#include "loop.h"
#include "tree.h"

/* CPUs that `instances` of them use when they are not stopped. */
static double measure_demand(const char *class, uint32_t cpus, uint32_t instances, uint64_t seed) {
    struct demand_mix mix = parse_mix(class);
    struct trial_options options = make_options(cpus, instances, "100%");
    options.modules[SS_KIND_CONTROL] = "fixed";
    options.mix = &mix;
    options.seed = seed;
    struct trial_figures figures = run(&options, 70 * SS_SECOND);
    demand_mix_free(&mix);
    return figures.load_mean * cpus;
}

/* ---- classes ---- */

static void demand_of_a_class_is_its_use_alone(void **state) {
    (void)state;
    assert_near(measure_demand("serial", 8, 1, 1), 1, 1e-9);
    assert_near(measure_demand("parallel", 8, 1, 1), 8, 1e-9);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        assert_near(measure_demand("blocking", 8, 1, seed), 1.3, 0.003);
        assert_near(measure_demand("forking", 8, 1, seed), 1, 0.01);
    }
}

/* Where there is one CPU only, no class gets more, and one with gaps gets less. */
static void shares_never_exceed_the_machine(void **state) {
    (void)state;
    assert_near(measure_demand("blocking", 1, 1, 1), 1, 1e-9);
    assert_near(measure_demand("parallel", 1, 1, 1), 1, 1e-9);
    assert_near(measure_demand("forking", 1, 1, 1), 8.0 / 9, 0.01);
    /* They do not keep step: the turns of four fill each other's gaps. */
    double four = measure_demand("forking", 4, 4, 1);
    assert_that(four, >, 4 * 8.0 / 9 + 0.1);
    assert_that(four, <, 4);
}

/* For how long the ring's threads run one at a time at most once it has been continued. */
static ss_time measure_gathering(struct demand *demand) {
    ss_time time = 0;
    demand_resume(demand, 0);
    while (demand->threads < 2) {
        time += demand->left;
        demand_next(demand);
    }
    return time;
}

/* Such a pause of the second thread comes of itself only a few times in a thousand. */
static void a_ring_that_is_continued_is_on_one_cpu_at_first(void **state) {
    (void)state;
    struct demand_mix mix = parse_mix("blocking");
    struct demand demand;
    int gathered = 0;
    demand_open(&demand, demand_mix_find(&mix, 0), 8, 1, 0);
    for (int i = 0; i < 1000; i++)
        gathered += measure_gathering(&demand) > SS_MILLISECOND;
    assert_in_range(gathered, 450, 650);
    demand_mix_free(&mix);
}

static void other_classes_are_unaffected(void **state) {
    (void)state;
    struct demand_mix mix = parse_mix("serial,parallel,forking");
    for (uint32_t i = 0; i < 3; i++) {
        struct demand demand;
        demand_open(&demand, demand_mix_find(&mix, i), 8, 1, i);
        struct demand before = demand;
        demand_resume(&demand, i == 1 ? 0 : 10 * SS_MILLISECOND);
        assert_memory_equal(&demand, &before, sizeof demand);
    }
    demand_mix_free(&mix);
}

/* One time in four the threads of a parallel one share one CPU, for up to the time given. */
static void parallel_instances_may_begin_late(void **state) {
    (void)state;
    struct demand_mix mix = parse_mix("parallel");
    struct demand demand;
    int gathered = 0;
    demand_open(&demand, demand_mix_find(&mix, 0), 8, 1, 0);
    for (int i = 0; i < 1000; i++) {
        demand_resume(&demand, 10 * SS_MILLISECOND);
        bool late = demand.left != SS_TIME_NEVER;
        gathered += late;
        assert_true(!late || demand.left <= 10 * SS_MILLISECOND);
        assert_int_equal(demand.threads, late ? 1 : 8);
        demand_next(&demand);
        assert_int_equal(demand.threads, 8);
        assert_int_equal(demand.left, SS_TIME_NEVER);
    }
    assert_in_range(gathered, 200, 300);
    demand_mix_free(&mix);
}

/* How often it changes, in a second. */
static double count_turns(const char *class) {
    struct demand_mix mix = parse_mix(class);
    struct demand demand;
    demand_open(&demand, demand_mix_find(&mix, 0), 8, 1, 0);
    double seconds = 0;
    int turns = 0;
    for (; seconds < 60; turns++) {
        seconds += ss_time_seconds(demand.left);
        demand_next(&demand);
    }
    demand_mix_free(&mix);
    return turns / seconds;
}

static void blocking_and_forking_turn_often(void **state) {
    (void)state;
    assert_near(count_turns("blocking"), 2 * 15000, 600);
    assert_near(count_turns("forking"), 3 * 1111, 60);
}

static void a_mix_goes_by_turns(void **state) {
    (void)state;
    struct demand_mix mix = parse_mix("serial:2,parallel,blocking:1");
    static const enum demand_kind kinds[] = {
        DEMAND_SERIAL, DEMAND_SERIAL, DEMAND_PARALLEL, DEMAND_BLOCKING};
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(demand_mix_find(&mix, i)->kind, kinds[i % 4]);
    demand_mix_free(&mix);
    assert_near(measure_demand("serial:3,blocking", 20, 8, 1), 6 + 2 * 1.3, 0.01);
}

/* Each instance has a sequence of its own, and so has each seed. */
static void sequences_are_independent(void **state) {
    (void)state;
    struct demand_mix mix = parse_mix("blocking");
    struct demand one, other, seed, again;
    demand_open(&one, mix.classes, 8, 1, 0);
    demand_open(&other, mix.classes, 8, 1, 1);
    demand_open(&seed, mix.classes, 8, 2, 0);
    demand_open(&again, mix.classes, 8, 1, 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(one.left, again.left);
        assert_int_not_equal(one.left, other.left);
        assert_int_not_equal(one.left, seed.left);
        demand_next(&one);
        demand_next(&other);
        demand_next(&seed);
        demand_next(&again);
    }
    demand_mix_free(&mix);
}

/* ---- profiles ---- */

static const char profile_text[] = "# threads of a build\n"
                                   "0 1\n"
                                   "2s 3 # two more\n"
                                   "\n"
                                   "3s 0\r\n"
                                   "4s 0\n";

/* Writes a profile; `class` becomes the class that follows it. */
static struct demand_mix parse_profile(char class[300], const char *text) {
    tree_new();
    tree_write("profile", text);
    snprintf(class, 300, "profile:%s/profile", tree_root);
    return parse_mix(class);
}

static void a_profile_is_followed_over_and_over(void **state) {
    (void)state;
    char class[300];
    struct demand_mix mix = parse_profile(class, profile_text);
    const struct profile *profile = &mix.classes[0].profile;
    assert_int_equal(profile->length, 4 * SS_SECOND);
    assert_int_equal(profile->count, 3);
    struct demand demand;
    demand_open(&demand, &mix.classes[0], 8, 1, 0);
    ss_time times[4] = {0};
    assert_that(demand.left, <=, profile->stretches[demand.phase].length);
    for (int i = 0; i < 300; i++) {
        demand_next(&demand);
        times[demand.threads] += demand.left;
    }
    assert_int_equal(times[1], 200 * SS_SECOND);
    assert_int_equal(times[3], 100 * SS_SECOND);
    assert_int_equal(times[0], 100 * SS_SECOND);
    demand_mix_free(&mix);
    assert_near(measure_demand(class, 8, 1, 1), 1.25, 1e-9);
}

/* Instances that begin together are spread evenly over it. */
static void instances_begin_anywhere_in_a_profile(void **state) {
    (void)state;
    char class[300];
    struct demand_mix mix = parse_profile(class, profile_text);
    int counts[4] = {0};
    double late = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        struct demand demand;
        demand_open(&demand, &mix.classes[0], 8, 1, i);
        counts[demand.threads]++;
        if (demand.threads == 1)
            late += ss_time_seconds(demand.left);
    }
    assert_near(counts[1], 2000, 100);
    assert_near(counts[3], 1000, 100);
    assert_near(late / counts[1], 1, 0.05);
    demand_mix_free(&mix);
}

static void a_profile_may_say_what_threads_use_of_the_memory(void **state) {
    (void)state;
    char class[300];
    struct demand_mix mix = parse_profile(class, "0 1 2.5 40%\n1s 2\n2s 3 7e+06 0\n3s 0\n");
    const struct profile *profile = &mix.classes[0].profile;
    struct demand demand;
    assert_int_equal(profile->count, 3);
    demand_open(&demand, &mix.classes[0], 8, 1, 0);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(demand.use != NULL, demand.threads != 2);
        if (demand.use)
            assert_near(demand.use->accesses, demand.threads == 1 ? 2.5 : 7e6, 1e-12);
        if (demand.use)
            assert_near(demand.use->waiting, demand.threads == 1 ? 0.4 : 0, 1e-12);
        demand_next(&demand);
    }
    demand_mix_free(&mix);
}

/* Half of the time it is stopped, and what it would do next waits. */
static void stopped_instances_stay_in_their_profiles(void **state) {
    (void)state;
    char class[300];
    struct demand_mix mix = parse_profile(class, "0 1\n107m 0\n214m 0\n");
    struct trial_options options = make_options(1, 1, "50%");
    options.modules[SS_KIND_CONTROL] = "fixed";
    options.mix = &mix;
    struct trial_figures figures = run(&options, (10 + 107 * 4) * SS_SECOND);
    assert_near(figures.load_mean, 0.25, 1e-4);
    demand_mix_free(&mix);
}

static void assert_no_mix(const char *text, const char *words) {
    struct demand_mix mix;
    struct ss_error error = {0};
    assert_int_equal(demand_mix_parse(&mix, text, &error), -1);
    assert_int_equal(error.status, SS_ERROR_FAILED);
    assert_null(strchr(error.message, '\n'));
    if (!strstr(error.message, words))
        fail_msg("'%s' does not say '%s'", error.message, words);
    demand_mix_free(&mix);
}

static void invalid_classes_are_refused(void **state) {
    (void)state;
    assert_no_mix("serail", "--class: unknown class 'serail': did you mean 'serial'?");
    assert_no_mix("", "unknown class ''");
    assert_no_mix("serial,,parallel", "unknown class ''");
    assert_no_mix("serial:0", "from 1 to 1000000, and not 0");
    assert_no_mix("serial:1000001", "from 1 to 1000000");
    assert_no_mix("serial:-1", "unknown class 'serial:-1'");
    assert_no_mix("profile:/nowhere", "/nowhere cannot be opened: No such file");
    assert_no_mix("serial,profile:/", "/ cannot be read: Is a directory");
}

static void invalid_profiles_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "/profile has no length"},
        {"0 1\n", "has no length"},
        {"0 1\n0 2\n", "has no length"},
        {"1s 1\n2s 1\n", "profile:1: the first line is at 1s: a profile begins at 0"},
        {"0 1\n2s 1\n1s 1\n", "profile:3: 1s lies before the line above it"},
        {"0 1\n\nx 1\n", "profile:3: 'x'"},
        {"0 1\n2s 1.5\n", "profile:2: '1.5' is not a whole number"},
        {"0 1\n2s -1\n", "profile:2: '-1'"},
        {"0 1\n2s 1000001\n", "too many threads: at most 1000000"},
        {"0 1\n2s\n", "profile:2: \"2s\" is not a line of a profile: write TIME THREADS"},
        {"0 1 2\n", "is not a line of a profile"},
        {"0 1 2 3 4\n", "write TIME THREADS, or TIME THREADS ACCESSES WAITING"},
        {"0 1 x 0.5\n", "profile:1: 'x' is not a valid number of accesses per second"},
        {"0 1 -1 0.5\n", "profile:1: '-1' is not a valid number"},
        {"0 1 1e999 0.5\n", "profile:1: '1e999' is not a valid number"},
        {"0 1 1e 0.5\n", "profile:1: '1e' is not a valid number"},
        {"0 1 '' 0.5\n", "profile:1: '' is not a valid number"},
        {"0 1 5 1.5\n", "profile:1: '1.5'"},
        {"0 1 0 0.5\n", "profile:1: a thread without accesses does not wait for the memory"},
        {"0 '1\n", "profile:1: the quote"},
    };
    char class[300];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tree_new();
        tree_write("profile", cases[i].text);
        snprintf(class, sizeof class, "profile:%s/profile", tree_root);
        assert_no_mix(class, cases[i].words);
    }
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(demand_of_a_class_is_its_use_alone),
    cmocka_unit_test(shares_never_exceed_the_machine),
    cmocka_unit_test(a_ring_that_is_continued_is_on_one_cpu_at_first),
    cmocka_unit_test(other_classes_are_unaffected),
    cmocka_unit_test(parallel_instances_may_begin_late),
    cmocka_unit_test(blocking_and_forking_turn_often),
    cmocka_unit_test(a_mix_goes_by_turns),
    cmocka_unit_test(sequences_are_independent),
    cmocka_unit_test(a_profile_is_followed_over_and_over),
    cmocka_unit_test(instances_begin_anywhere_in_a_profile),
    cmocka_unit_test(a_profile_may_say_what_threads_use_of_the_memory),
    cmocka_unit_test(stopped_instances_stay_in_their_profiles),
    cmocka_unit_test(invalid_classes_are_refused),
    cmocka_unit_test(invalid_profiles_are_refused))
