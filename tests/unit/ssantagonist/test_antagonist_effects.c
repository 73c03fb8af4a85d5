/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "codes.h"
#include "effects.h"
#include <showstopper/random.h>

#define SLOTS    (2 * CODES_LENGTH)
#define SUSPECTS 4
#define DEPTH    0.2

/* A study whose series the test cases fill in. Suspects lose CPU time to the full depth. */
struct study {
    struct codes codes;
    double figures[SLOTS], cpu[SUSPECTS][SLOTS];
    struct effects_input input;
    struct effects effects;
};

static bool is_low(const struct study *study, size_t code, size_t slot) {
    return codes_low(&study->codes, code, slot);
}

static void open_study(struct study *study) {
    *study = (struct study){.input = {.depth = DEPTH}};
    codes_draw(&study->codes, SUSPECTS, true, 11);
    study->input.codes = &study->codes;
    study->input.figures = study->figures;
    uint64_t random = 5;
    for (size_t i = 0; i < SUSPECTS; i++) {
        study->input.cpu[i] = study->cpu[i];
        study->input.usual[i] = (struct effects_usual){2, 0.01};
        for (size_t slot = 0; slot < SLOTS; slot++)
            study->cpu[i][slot] = is_low(study, i, slot) ? 2 * (1 - DEPTH) : 2;
    }
    for (size_t slot = 0; slot < SLOTS; slot++)
        study->figures[slot] = 3 + 0.01 * (ss_random_next(&random) - 0.5);
}

static void estimate(struct study *study) {
    assert_true(effects_estimate(&study->effects, &study->input));
}

static const struct effects_one *effect_of(const struct study *study, size_t suspect) {
    return &study->effects.codes[suspect];
}

/* Adds an effect in slots in which a suspect is throttled, and one in the slots after. */
static void add_effect(struct study *study, size_t suspect, double now, double after) {
    for (size_t slot = 0; slot < SLOTS; slot++) {
        study->figures[slot] += now * is_low(study, suspect, slot);
        study->figures[slot] += after * (slot > 0 && is_low(study, suspect, slot - 1));
    }
}

static void effects_are_estimated_under_a_cubic_drift(void **state) {
    (void)state;
    struct study study;
    open_study(&study);
    add_effect(&study, 0, 0.03, 0);
    add_effect(&study, 1, 0.02, -0.004);
    for (size_t slot = 0; slot < SLOTS; slot++) {
        double x = (double)slot / SLOTS;
        study.figures[slot] += 0.2 * x - 0.7 * x * x + 0.4 * x * x * x;
    }
    estimate(&study);
    assert_near(effect_of(&study, 0)->now.value, 0.03, 0.0015);
    assert_near(effect_of(&study, 0)->after.value, 0, 0.0015);
    assert_near(effect_of(&study, 0)->withheld, DEPTH, 1e-9);
    assert_near(effect_of(&study, 0)->cost.value, 0.15, 0.008);
    assert_near(effect_of(&study, 1)->now.value, 0.02, 0.0015);
    assert_near(effect_of(&study, 1)->net.value, 0.08, 0.01);
    assert_int_equal(effect_of(&study, 0)->verdict, EFFECTS_HURTS);
    assert_int_equal(effect_of(&study, 1)->verdict, EFFECTS_HURTS);
    assert_int_equal(effect_of(&study, 2)->verdict, EFFECTS_NOTHING);
    assert_int_equal(effect_of(&study, 3)->verdict, EFFECTS_NOTHING);
    assert_false(study.effects.ghost_found);
}

static void standard_error_matches_least_squares(void **state) {
    (void)state;
    struct study study;
    open_study(&study);
    estimate(&study);
    /*
     * Codes are almost orthogonal: se = 2 s / sqrt(n), slightly more because they share a little.
     */
    double half = effect_of(&study, 0)->now.value - effect_of(&study, 0)->now.interval.low;
    double error = 2 * study.effects.deviation / sqrt(SLOTS);
    assert_near(half / study.effects.quantile / error, 1, 0.1);
    assert_near(study.effects.deviation, 0.01 / sqrt(12), 0.0006);
}

static void quantile_is_corrected_for_the_number_of_suspects(void **state) {
    (void)state;
    /* From tables of Student's t. */
    assert_near(effects_quantile(1, 10), 2.228139, 1e-6);
    assert_near(effects_quantile(5, 10), 3.169273, 1e-6);
    assert_near(effects_quantile(10, 1e9), 2.807034, 1e-6);
}

static void forecast_of_detectable_effects_matches_known_values(void **state) {
    (void)state;
    struct codes codes;
    codes_draw(&codes, 8, true, 1);
    /* With 5 % per second and a correlation of 0.5, the mean of 4 s deviates by 3.59 %. */
    assert_near(effects_percent(effects_found_from(&codes, 0.0359, 0.5)), 5.4, 0.2);
    assert_near(effects_percent(effects_found_from(&codes, 0.0359, 0.2)), 13.5, 0.6);
}

static void suspect_that_loses_little_cpu_time_is_not_testable(void **state) {
    (void)state;
    struct study study;
    open_study(&study);
    add_effect(&study, 0, 0.03, 0);
    add_effect(&study, 1, 0.03, 0);
    for (size_t slot = 0; slot < SLOTS; slot++) {
        study.cpu[0][slot] = 2 - 0.3 * DEPTH * 2 * is_low(&study, 0, slot);
        study.cpu[1][slot] = 2 - 0.4 * DEPTH * 2 * is_low(&study, 1, slot);
        study.cpu[2][slot] = 0;
        study.cpu[3][slot] = NAN;
    }
    estimate(&study);
    assert_int_equal(effect_of(&study, 0)->verdict, EFFECTS_UNTESTABLE);
    assert_int_equal(effect_of(&study, 1)->verdict, EFFECTS_HURTS);
    assert_int_equal(effect_of(&study, 2)->verdict, EFFECTS_UNTESTABLE);
    assert_int_equal(effect_of(&study, 3)->verdict, EFFECTS_UNTESTABLE);
}

static void suspect_that_the_victim_needs_is_recognized(void **state) {
    (void)state;
    struct study study;
    open_study(&study);
    add_effect(&study, 2, -0.05, 0);
    estimate(&study);
    assert_int_equal(effect_of(&study, 2)->verdict, EFFECTS_SUPPORTS);
}

static void effect_lost_in_the_next_slot_is_shifted_work(void **state) {
    (void)state;
    struct study study;
    open_study(&study);
    add_effect(&study, 0, 0.03, -0.03);
    estimate(&study);
    assert_int_equal(effect_of(&study, 0)->verdict, EFFECTS_SHIFTS);
}

/* A backlog takes several slots, so the slot after shows little of it; the CPU time shows all. */
static void cpu_time_used_later_is_shifted_work(void **state) {
    (void)state;
    struct study study;
    open_study(&study);
    add_effect(&study, 0, 0.03, 0);
    for (size_t slot = 0; slot < SLOTS; slot++)
        study.cpu[0][slot] = is_low(&study, 0, slot) ? 2 - 2 * DEPTH : 2 + 2 * DEPTH;
    estimate(&study);
    assert_near(effect_of(&study, 0)->returned.value, 1, 1e-9);
    assert_int_equal(effect_of(&study, 0)->verdict, EFFECTS_SHIFTS);
    study.input.usual[0] = (struct effects_usual){2, 0.5};
    estimate(&study);
    assert_int_equal(effect_of(&study, 0)->verdict, EFFECTS_HURTS);
}

static void effect_of_a_pair_is_not_attributed_to_a_third_suspect(void **state) {
    (void)state;
    struct study study;
    open_study(&study);
    for (size_t slot = 0; slot < SLOTS; slot++)
        study.figures[slot] += is_low(&study, 1, slot) == is_low(&study, 3, slot) ? 0.01 : -0.01;
    estimate(&study);
    assert_that(study.effects.pairs, >=, 1);
    assert_int_equal(study.effects.pair[0].one, 1);
    assert_int_equal(study.effects.pair[0].other, 3);
    assert_that(study.effects.pair[0].t, >, 5);
    for (size_t i = 0; i < SUSPECTS; i++)
        assert_int_equal(effect_of(&study, i)->verdict, EFFECTS_NOTHING);
}

static void slots_without_a_figure_are_left_out(void **state) {
    (void)state;
    struct study study;
    open_study(&study);
    add_effect(&study, 0, 0.03, 0);
    for (size_t slot = 3; slot < SLOTS; slot += 9)
        study.figures[slot] = NAN;
    estimate(&study);
    assert_int_equal(study.effects.slots, SLOTS - 14);
    assert_near(effect_of(&study, 0)->now.value, 0.03, 0.002);
    for (size_t slot = 0; slot < SLOTS - 12; slot++)
        study.figures[slot] = NAN;
    assert_false(effects_estimate(&study.effects, &study.input));
}

static void interaction_of_two_codes_is_reported(void **state) {
    (void)state;
    struct study study;
    open_study(&study);
    uint64_t random = 9;
    for (size_t slot = 0; slot < SLOTS; slot++)
        study.cpu[1][slot] +=
            0.6 * is_low(&study, 0, slot) + 0.02 * (ss_random_next(&random) - 0.5);
    estimate(&study);
    assert_true(study.effects.crossed_found[1][0]);
    assert_that(study.effects.crossed[1][0], >, 0.2);
    assert_false(study.effects.crossed_found[1][2]);
}

static bool any_interaction(const struct effects *effects) {
    for (size_t one = 0; one < SUSPECTS; one++) {
        for (size_t other = 0; other < SUSPECTS; other++) {
            if (other != one && effects->crossed_found[one][other])
                return true;
        }
    }
    return false;
}

#define CHANCE_STUDIES 500

static void interactions_by_chance_are_rare(void **state) {
    (void)state;
    struct study study;
    uint64_t random = 17;
    size_t found = 0;
    open_study(&study);
    for (size_t number = 0; number < CHANCE_STUDIES; number++) {
        for (size_t i = 0; i < SUSPECTS; i++) {
            for (size_t slot = 0; slot < SLOTS; slot++)
                study.cpu[i][slot] = 1 + 0.1 * (ss_random_next(&random) - 0.5);
        }
        estimate(&study);
        found += any_interaction(&study.effects);
    }
    assert_that(found, <=, 0.07 * CHANCE_STUDIES);
    assert_that(found, >=, 0.03 * CHANCE_STUDIES);
}

static void effect_of_an_unused_code_is_reported(void **state) {
    (void)state;
    struct study study;
    open_study(&study);
    add_effect(&study, SUSPECTS + 1, 0.05, 0);
    estimate(&study);
    assert_true(study.effects.ghost_found);
}

UNIT_MAIN(cmocka_unit_test(effects_are_estimated_under_a_cubic_drift),
    cmocka_unit_test(standard_error_matches_least_squares),
    cmocka_unit_test(quantile_is_corrected_for_the_number_of_suspects),
    cmocka_unit_test(forecast_of_detectable_effects_matches_known_values),
    cmocka_unit_test(suspect_that_loses_little_cpu_time_is_not_testable),
    cmocka_unit_test(suspect_that_the_victim_needs_is_recognized),
    cmocka_unit_test(effect_lost_in_the_next_slot_is_shifted_work),
    cmocka_unit_test(cpu_time_used_later_is_shifted_work),
    cmocka_unit_test(effect_of_a_pair_is_not_attributed_to_a_third_suspect),
    cmocka_unit_test(slots_without_a_figure_are_left_out),
    cmocka_unit_test(interaction_of_two_codes_is_reported),
    cmocka_unit_test(interactions_by_chance_are_rare),
    cmocka_unit_test(effect_of_an_unused_code_is_reported))
