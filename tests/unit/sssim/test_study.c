/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a simulated foreground and background: the known interference must be measured. */

#include "loop.h"
#include "study.h"
#include "tree.h"

#define MS SS_MILLISECOND

static struct demand_mix mixes[MEMORY_SIDES];

/*
 * Returns a study of two serial sides on `cpus` CPUs each; the background has four instances per
 * CPU.
 */
static struct study_options make_study(uint32_t cpus, double rate) {
    struct study_options study = {
        .workloads = {"front", "back"},
        .memory_rate = rate,
        .duration = 60 * SS_SECOND,
        .round = 1,
    };
    for (int i = 0; i < MEMORY_SIDES; i++) {
        demand_mix_free(&mixes[i]);
        mixes[i] = parse_mix("serial");
        study.sides[i] = make_options(cpus, i == STUDY_FOREGROUND ? cpus : 4 * cpus, "100%");
        study.sides[i].mix = &mixes[i];
        study.sides[i].settle = 2 * SS_SECOND;
        study.sides[i].work.iteration = 10 * MS;
        study.sides[i].modules[SS_KIND_FEEDBACK] = "exact";
        study.sides[i].modules[SS_KIND_CONTROL] = i == STUDY_FOREGROUND ? "fixed" : "deadbeat";
        study.sides[i].modules[SS_KIND_DITHERING] = "stagger";
    }
    return study;
}

static void use_memory(struct study_options *study, int side, double accesses, double waiting) {
    study->sides[side].work.use = (struct memory_use){accesses, waiting};
}

static void set_class(struct study_options *study, int side, const char *class) {
    demand_mix_free(&mixes[side]);
    mixes[side] = parse_mix(class);
    study->sides[side].mix = &mixes[side];
}

struct figures {
    struct trial_figures sides[MEMORY_SIDES];
};

static struct figures run_at(struct study_options *study, const char *load) {
    struct figures figures;
    struct ss_option_store store = {0};
    struct ss_error error = {0};
    study->sides[STUDY_BACKGROUND].options[SS_KIND_TRACE] = load;
    assert_succeeds(study_run(study, NULL, &store, figures.sides, &error), error);
    ss_option_store_free(&store);
    return figures;
}

/* Returns the metric from two constant loads. */
static double measure(struct study_options *study, const char *load) {
    struct figures idle = run_at(study, "0"), busy = run_at(study, load);
    double alone = idle.sides[STUDY_FOREGROUND].throughput;
    double beside = busy.sides[STUDY_FOREGROUND].throughput;
    double more = busy.sides[STUDY_BACKGROUND].load_mean - idle.sides[STUDY_BACKGROUND].load_mean;
    return 100 * (alone - beside) / alone / more;
}

static void assert_known(struct study_options *study, double known, double within) {
    assert_near(study_interference(study), known, 1e-6);
    assert_near(measure(study, "50%"), known, within);
    assert_near(measure(study, "100%"), known, within);
}

TEST(memory_interference_follows_its_formula) {
    static const struct {
        uint32_t cpus;
        double rate;
        struct memory_use uses[MEMORY_SIDES];
        double known, within;
    } rows[] = {
        {1, 0, {[STUDY_FOREGROUND] = {0, 0}, [STUDY_BACKGROUND] = {0, 0}}, 0, 0.01},
        /* A background without accesses costs nothing, nor does a foreground that does not wait. */
        {1, 100, {[STUDY_FOREGROUND] = {50, 0.5}, [STUDY_BACKGROUND] = {0, 0}}, 0, 0.01},
        {1, 100, {[STUDY_FOREGROUND] = {50, 0}, [STUDY_BACKGROUND] = {50, 0.5}}, 0, 0.01},
        {1, 100, {[STUDY_FOREGROUND] = {50, 0.2}, [STUDY_BACKGROUND] = {50, 0.9}}, 10, 0.1},
        {1, 100, {[STUDY_FOREGROUND] = {50, 0.7}, [STUDY_BACKGROUND] = {50, 0.9}}, 35, 0.2},
        /* More CPUs demand more memory. */
        {3, 300, {[STUDY_FOREGROUND] = {40, 0.5}, [STUDY_BACKGROUND] = {30, 0.5}},
            100 * 0.5 * 90 / (300 - 0.5 * 2 * 40), 0.2},
    };
    struct study_options study = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("row %zu\n", i);
        study = make_study(rows[i].cpus, rows[i].rate);
        for (int side = 0; side < MEMORY_SIDES; side++)
            study.sides[side].work.use = rows[i].uses[side];
        assert_known(&study, rows[i].known, rows[i].within);
    }
    /* The result of the last row must not depend on the classes that cause the load. */
    set_class(&study, STUDY_BACKGROUND, "blocking");
    study.sides[STUDY_BACKGROUND].instances = 4;
    study.duration = 20 * SS_SECOND;
    set_class(&study, STUDY_FOREGROUND, "parallel");
    assert_known(&study, 100 * 0.5 * 90 / (300 - 0.5 * 2 * 40), 0.2);
}

/* The background does less work at the same load. */
TEST(foreground_also_slows_the_background) {
    struct study_options study = make_study(1, 100);
    use_memory(&study, STUDY_FOREGROUND, 40, 0);
    use_memory(&study, STUDY_BACKGROUND, 20, 0.5);
    struct figures figures = run_at(&study, "50%");
    const struct trial_figures *background = &figures.sides[STUDY_BACKGROUND];
    assert_near(background->throughput, 100 * background->load_mean * (1 - 0.5 * 0.4), 0.3);
}

TEST(unknown_interference_is_omitted) {
    struct study_options study = make_study(1, 100);
    use_memory(&study, STUDY_FOREGROUND, 50, 0.2);
    use_memory(&study, STUDY_BACKGROUND, 51, 0);
    assert_true(isnan(study_interference(&study))); /* demand exceeds the rate of the memory */
    use_memory(&study, STUDY_BACKGROUND, 50, 0);
    study.sides[STUDY_BACKGROUND].quota = 0.5;
    assert_true(isnan(study_interference(&study)));
    study.sides[STUDY_BACKGROUND].quota = 0;
    assert_near(study_interference(&study), 10, 1e-9);
    set_class(&study, STUDY_FOREGROUND, "forking");
    assert_true(isnan(study_interference(&study)));
    char class[300];
    tree_new();
    tree_write("profile", "0 1 50 0.2\n1s 1\n");
    snprintf(class, sizeof class, "profile:%s/profile", tree_root);
    for (int side = 0; side < MEMORY_SIDES; side++) {
        study = make_study(1, 100);
        assert_near(study_interference(&study), 0, 0);
        set_class(&study, side, class);
        assert_true(isnan(study_interference(&study)));
    }
}

/*
 * The number of accesses per second of a busy CPU then depends on the speed, and so does the
 * throughput at a load of 100 %.
 */
TEST(interference_is_unknown_if_the_speed_of_cpus_varies) {
    for (int i = 0; i < 3; i++) {
        struct study_options study = make_study(2, 200);
        for (int side = 0; side < MEMORY_SIDES; side++) {
            use_memory(&study, side, 50, 0.2);
            study.sides[side].steal = i == 0 ? 0.5 : 0;
            study.sides[side].cores = (struct cores){.gain = i == 1 ? 1.5 : 0,
                .step_count = i == 2 ? 1 : 0,
                .steps = {{.cores = 2, .speed = 1.5}}};
        }
        assert_true(isnan(study_interference(&study)));
        use_memory(&study, STUDY_FOREGROUND, 0, 0);
        assert_near(study_interference(&study), 0, 0);
    }
}

/* Two sections of equal length: one sets its own accesses, the other uses the side's defaults. */
TEST(profile_sections_may_set_memory_use) {
    char class[300];
    struct study_options study = make_study(1, 100);
    use_memory(&study, STUDY_FOREGROUND, 50, 0.4);
    use_memory(&study, STUDY_BACKGROUND, 10, 0);
    tree_new();
    tree_write("profile", "0 1 50 20%\n100m 1\n200m 1\n");
    snprintf(class, sizeof class, "profile:%s/profile", tree_root);
    set_class(&study, STUDY_BACKGROUND, class);
    assert_near(measure(&study, "100%"), 100 * 0.4 * (50 + 10) / 2 / 100, 0.2);
}

static void assert_no_study(struct study_options *study, const char *words) {
    struct trial_figures figures[MEMORY_SIDES];
    struct ss_option_store store = {0};
    struct ss_error error = {0};
    assert_fails(study_run(study, NULL, &store, figures, &error), error, words);
    ss_option_store_free(&store);
}

TEST(invalid_studies_are_refused) {
    struct study_options study = make_study(1, 0);
    study.sides[STUDY_BACKGROUND].options[SS_KIND_TRACE] = "50%";
    study.duration = SS_TIME_NEVER;
    assert_no_study(&study, "the background's trace has no end");
    study.duration = 2 * SS_SECOND;
    assert_no_study(&study, "--settle leaves no time to count");
}

UNIT_RUN
