/* SPDX-License-Identifier: Apache-2.0 */

#include "loop.h"
#include "tree.h"

/* Returns the number of CPUs that `instances` of a class use when never stopped. */
static double measure_demand(const char *class, uint32_t cpus, uint32_t instances, uint64_t seed) {
    OWNED_MIX mix = parse_mix(class);
    struct trial_options options = make_fixed(cpus, instances, "100%");
    options.mix = &mix;
    options.seed = seed;
    return run(&options, 70 * SS_SECOND).load_mean * cpus;
}

TEST(each_class_uses_its_documented_share_of_cpus) {
    assert_near(measure_demand("serial", 8, 1, 1), 1, 1e-9);
    assert_near(measure_demand("parallel", 8, 1, 1), 8, 1e-9);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        assert_near(measure_demand("blocking", 8, 1, seed), 1.3, 0.003);
        assert_near(measure_demand("forking", 8, 1, seed), 1, 0.01);
    }
}

/* On a single CPU, no class uses more than this CPU, and a class with gaps uses less. */
TEST(demand_never_exceeds_the_machine) {
    assert_near(measure_demand("blocking", 1, 1, 1), 1, 1e-9);
    assert_near(measure_demand("parallel", 1, 1, 1), 1, 1e-9);
    assert_near(measure_demand("forking", 1, 1, 1), 8.0 / 9, 0.01);
    /* The four instances are not in step, so they fill each other's gaps. */
    double four = measure_demand("forking", 4, 4, 1);
    assert_that(four, >, 4 * 8.0 / 9 + 0.1);
    assert_that(four, <, 4);
}

/* Returns how long the ring's threads stay on a single CPU after a continue. */
static ss_time measure_gathering(struct demand *demand) {
    ss_time time = 0;
    demand_resume(demand);
    while (demand->threads < 2) {
        time += demand->left;
        demand_next(demand);
    }
    return time;
}

/*
 * Unless it was just continued, the instance has a single thread for more than 1 ms only a few
 * times in a thousand.
 */
TEST(continued_blocking_instance_starts_on_one_cpu) {
    OWNED_MIX mix = parse_mix("blocking");
    struct demand demand;
    int gathered = 0;
    demand_open(&demand, demand_mix_find(&mix, 0), 8, 1, 0);
    for (int i = 0; i < 1000; i++)
        gathered += measure_gathering(&demand) > SS_MILLISECOND;
    assert_in_range(gathered, 450, 650);
}

TEST(continuing_an_instance_does_not_affect_other_classes) {
    OWNED_MIX mix = parse_mix("serial,parallel,forking");
    for (uint32_t i = 0; i < 3; i++) {
        struct demand demand;
        demand_open(&demand, demand_mix_find(&mix, i), 8, 1, i);
        struct demand before = demand;
        demand_resume(&demand);
        assert_memory_equal(&demand, &before, sizeof demand);
    }
}

/* Returns the number of changes in demand per second. */
static double count_turns(const char *class) {
    OWNED_MIX mix = parse_mix(class);
    struct demand demand;
    demand_open(&demand, demand_mix_find(&mix, 0), 8, 1, 0);
    double seconds = 0;
    int turns = 0;
    for (; seconds < 60; turns++) {
        seconds += ss_time_seconds(demand.left);
        demand_next(&demand);
    }
    return turns / seconds;
}

TEST(blocking_and_forking_demand_changes_often) {
    assert_near(count_turns("blocking"), 2 * 15000, 600);
    assert_near(count_turns("forking"), 3 * 1111, 60);
}

/* Returns the load of a single instance with a queue, at this duty. */
static double measure_queue(const char *class, const char *duty) {
    OWNED_MIX mix = parse_mix(class);
    struct trial_options options = make_fixed(1, 1, "100%");
    options.options[SS_KIND_CONTROL] = duty;
    options.options[SS_KIND_DITHERING] = "53m";
    options.mix = &mix;
    return run(&options, 70 * SS_SECOND).load_mean;
}

TEST(work_queued_while_stopped_is_done_later) {
    assert_near(measure_queue("queue:40%", "duty=100%"), 0.4, 0.002);
    assert_near(measure_queue("queue:40%", "duty=80%"), 0.4, 0.01);
    assert_near(measure_queue("queue:40%", "duty=50%"), 0.4, 0.01);
    /* More arrives than the duty allows, so all of it is used. */
    assert_near(measure_queue("queue:70%", "duty=50%"), 0.5, 0.01);
}

TEST(demand_classes_of_a_mix_are_assigned_in_turn) {
    OWNED_MIX mix = parse_mix("serial:2,parallel,blocking:1");
    static const enum demand_kind kinds[] = {
        DEMAND_SERIAL, DEMAND_SERIAL, DEMAND_PARALLEL, DEMAND_BLOCKING};
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(demand_mix_find(&mix, i)->kind, kinds[i % 4]);
    assert_near(measure_demand("serial:3,blocking", 20, 8, 1), 6 + 2 * 1.3, 0.01);
}

/* Every instance and every seed has its own sequence. */
TEST(demand_sequences_are_independent) {
    OWNED_MIX mix = parse_mix("blocking");
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
}

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

TEST(demand_profile_is_repeated) {
    char class[300];
    OWNED_MIX mix = parse_profile(class, profile_text);
    const struct profile *profile = &mix.classes[0].profile;
    assert_int_equal(profile->length, 4 * SS_SECOND);
    assert_int_equal(profile->count, 3);
    struct demand demand;
    demand_open(&demand, &mix.classes[0], 8, 1, 0);
    ss_time times[4] = {0};
    assert_that(demand.left, <=, profile->segments[demand.phase].length);
    for (int i = 0; i < 300; i++) {
        demand_next(&demand);
        times[demand.threads] += demand.left;
    }
    assert_int_equal(times[1], 200 * SS_SECOND);
    assert_int_equal(times[3], 100 * SS_SECOND);
    assert_int_equal(times[0], 100 * SS_SECOND);
    assert_near(measure_demand(class, 8, 1, 1), 1.25, 1e-9);
}

/* Instances that start together are spread evenly over the profile. */
TEST(instances_start_at_random_points_of_a_demand_profile) {
    char class[300];
    OWNED_MIX mix = parse_profile(class, profile_text);
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
}

TEST(demand_profile_may_include_memory_use) {
    char class[300];
    OWNED_MIX mix = parse_profile(class, "0 1 2.5 40%\n1s 2\n2s 3 7e+06 0\n3s 0\n");
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
}

/* The instance is stopped half of the time, during which its profile does not advance. */
TEST(stopped_instances_do_not_advance_in_their_profiles) {
    char class[300];
    OWNED_MIX mix = parse_profile(class, "0 1\n107m 0\n214m 0\n");
    struct trial_options options = make_fixed(1, 1, "50%");
    options.mix = &mix;
    struct trial_figures figures = run(&options, (10 + 107 * 4) * SS_SECOND);
    assert_near(figures.load_mean, 0.25, 1e-4);
}

static void assert_no_mix(const char *text, const char *words) {
    struct demand_mix mix;
    struct ss_error error = {0};
    assert_fails(demand_mix_parse(&mix, text, &error), error, words);
    demand_mix_free(&mix);
}

TEST(invalid_demand_classes_are_refused) {
    assert_no_mix("serail", "unknown class 'serail': did you mean 'serial'?");
    assert_no_mix("", "unknown class ''");
    assert_no_mix("serial,,parallel", "unknown class ''");
    assert_no_mix("serial:0", "between 1 and 1000000, not 0");
    assert_no_mix("serial:1000001", "between 1 and 1000000");
    assert_no_mix("serial:-1", "unknown class 'serial:-1'");
    assert_no_mix("queue:0%", "more than 0% and less than 100% of a CPU, not 0%");
    assert_no_mix("queue:100%", "not 100%");
    assert_no_mix("queue:many", "many");
    assert_no_mix("profile:/nowhere", "cannot open /nowhere: No such file");
    assert_no_mix("serial,profile:/", "cannot read /: Is a directory");
}

TEST(invalid_demand_profiles_are_refused) {
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "/profile has no length"},
        {"0 1\n", "has no length"},
        {"0 1\n0 2\n", "has no length"},
        {"1s 1\n2s 1\n", "profile:1: the first time is 1s, but a profile must begin at 0"},
        {"0 1\n2s 1\n1s 1\n", "profile:3: time goes backward to 1s"},
        {"0 1\n\nx 1\n", "profile:3: 'x'"},
        {"0 1\n2s 1.5\n", "profile:2: '1.5' is not a whole number"},
        {"0 1\n2s -1\n", "profile:2: '-1'"},
        {"0 1\n2s 1000001\n", "too many threads: 1000001 (at most 1000000)"},
        {"0 1\n2s\n", "profile:2: invalid line \"2s\": use TIME THREADS"},
        {"0 1 2\n", "invalid line \"0 1 2\""},
        {"0 1 2 3 4\n", "use TIME THREADS, or TIME THREADS ACCESSES WAITING"},
        {"0 1 x 0.5\n", "profile:1: 'x' is not a valid number of accesses per second"},
        {"0 1 -1 0.5\n", "profile:1: '-1' is not a valid number"},
        {"0 1 1e999 0.5\n", "profile:1: '1e999' is not a valid number"},
        {"0 1 1e 0.5\n", "profile:1: '1e' is not a valid number"},
        {"0 1 '' 0.5\n", "profile:1: '' is not a valid number"},
        {"0 1 5 1.5\n", "profile:1: '1.5'"},
        {"0 1 0 0.5\n", "profile:1: WAITING must be 0 if ACCESSES is 0"},
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

UNIT_RUN
