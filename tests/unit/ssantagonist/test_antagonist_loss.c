/* SPDX-License-Identifier: Apache-2.0 */
#include "loss.h"
#include "unit.h"

/* Adds rows in which the suspect runs, alternately this much above and below 0. */
static void run_rows(struct loss *loss, int rows, double noise) {
    for (int i = 0; i < rows; i++)
        loss_add_row(loss, i % 2 ? noise : -noise);
}

TEST(one_clear_block_suffices_if_one_is_required) {
    struct loss loss = {0};
    run_rows(&loss, 20, 0.05);
    assert_false(loss_add_block(&loss, log(0.75), 1));
    assert_true(loss_add_block(&loss, log(0.65), 1));
}

/* Adds two rows without a loss, then a block. Returns whether the loss is proven. */
static bool loses(struct loss *loss, double figure, uint64_t blocks) {
    run_rows(loss, 2, 0.01);
    return loss_add_block(loss, figure, blocks);
}

TEST(losses_must_be_successive) {
    struct loss loss = {0};
    run_rows(&loss, 20, 0.01);
    assert_false(loses(&loss, -1, 3));
    assert_false(loses(&loss, -1, 3));
    assert_false(loses(&loss, -0.1, 3));
    assert_false(loses(&loss, -1, 3));
    assert_false(loses(&loss, -1, 3));
    assert_true(loses(&loss, -1, 3));
}

/* With noise of 25 %, a second is now and then slower by a third. */
TEST(losses_within_the_noise_prove_nothing) {
    struct loss loss = {0};
    run_rows(&loss, 20, 0.25);
    assert_false(loss_add_block(&loss, -0.5, 1));
    run_rows(&loss, 20, 0.25);
    assert_true(loss_add_block(&loss, -2, 1));
}

TEST(a_loss_counts_only_if_it_begins_with_the_block) {
    struct loss loss = {0};
    run_rows(&loss, 20, 0.01);
    loss_add_row(&loss, -1);
    assert_false(loss_add_block(&loss, -1, 1));
    run_rows(&loss, 20, 0.01);
    assert_true(loss_add_block(&loss, -1, 1));
}

TEST(a_slow_phase_is_one_loss) {
    struct loss loss = {0};
    run_rows(&loss, 20, 0.1);
    for (int i = 0; i < 3; i++) {
        assert_false(loss_add_block(&loss, -2, 2));
        loss_add_row(&loss, -2);
    }
}

TEST(blocks_before_the_reference_are_not_judged) {
    struct loss loss = {0};
    run_rows(&loss, 4, 0.01);
    assert_false(loss_add_block(&loss, -5, 1));
    run_rows(&loss, 1, 0.01);
    assert_true(loss_add_block(&loss, -5, 1));
}

TEST(silence_is_a_loss_even_if_it_outlasts_the_block) {
    struct loss loss = {0};
    run_rows(&loss, 20, 0.3);
    assert_false(loss_add_block(&loss, -INFINITY, 2));
    run_rows(&loss, 20, INFINITY); /* the victim stays silent */
    assert_true(loss_add_block(&loss, -INFINITY, 2));
}

UNIT_RUN
