/* SPDX-License-Identifier: Apache-2.0 */
#include "policy.h"
#include "text.h"

static struct ssactuate_policy policy;

static int read_policy(const char *text, struct ss_error *error) {
    FILE *stream = text_read(text);
    ssactuate_policy_free(&policy);
    int status = ssactuate_policy_read(&policy, stream, "policy", error);
    fclose(stream);
    return status;
}

static void open_policy(const char *text) {
    struct ss_error error = {0};
    assert_succeeds(read_policy(text, &error), error);
}

TEST(lines_of_a_policy_are_read) {
    open_policy("# a comment\nload group /a\nevery 500m\nstay 1M\n\n"
                "below 30% pin=per-thread 'quota=50%'\nbetween 40% 50% pin=free quota=60%\n"
                "above 0.6 pin=per-chip quota=70%\n");
    assert_int_equal(policy.source, SSACTUATE_GROUP);
    assert_string_equal(policy.argument, "/a");
    assert_that(policy.every, ==, 500 * SS_MILLISECOND);
    assert_that(policy.stay, ==, 60 * SS_SECOND);
    assert_that(policy.count, ==, 3);
    assert_that(policy.rules[0].line, ==, 6);
    assert_string_equal(policy.rules[0].knobs[1], "quota=50%");
    assert_null(policy.rules[0].knobs[2]);
    assert_near(policy.rules[1].from, 0.4, 1e-12);
    assert_near(policy.rules[2].from, 0.6, 1e-12);
}

/* tests/python/test_pairs.py compares what ssreport writes with the same file. */
TEST(policy_of_a_report_is_read) {
    char text[1024];
    FILE *stream = fopen(TEST_SOURCE_DIR "/data/actuate/report.policy", "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    open_policy(text);
    assert_int_equal(policy.source, SSACTUATE_SIDE);
    assert_that(policy.count, ==, 2);
    assert_near(policy.rules[0].to, 0.264, 1e-12);
    assert_string_equal(policy.rules[0].knobs[0], "pin=per-core");
    assert_near(policy.rules[1].from, 0.284, 1e-12);
}

TEST(invalid_policies_are_refused) {
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "policy: the policy has no rule"},
        {"belw 40% pin=free\n", "policy:1: unknown word 'belw': did you mean 'below'?"},
        {"below 40%\n", "incomplete rule: use below PERCENT KNOB"},
        {"below 40% pin=free\nabove 30% pin=free\n",
            "the rules in lines 1 and 2 overlap: let one end where the other begins"},
        {"below 40% pin=free\nabove 60% quota=50%\n",
            "the rule in line 1 does not set quota, but the one in line 2 does"},
        {"below 40% frequency=min\nabove 60% frequency=max,turbo=on\n",
            "the rule in line 1 does not set turbo, but the one in line 2 does"},
        {"load disk\nbelow 40% pin=free\n", "policy:1: unknown source of the load 'disk'"},
        {"load trace\nbelow 40% pin=free\n", "`load trace` takes one argument"},
        {"every 0s\nbelow 40% pin=free\n", "`every` must be above 0"},
        {"between 60% 40% pin=free\n", "60% is above 40%"},
        {"below 140% pin=free\n", "not a load"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ss_error error = {0};
        assert_fails(read_policy(cases[i].text, &error), error, cases[i].part);
    }
}

/* The rules read before the error must not pass for the whole policy. */
TEST(unreadable_policy_is_refused) {
    struct ss_error error = {0};
    FILE *folder = fopen("/", "re");
    assert_non_null(folder);
    ssactuate_policy_free(&policy);
    assert_fails(ssactuate_policy_read(&policy, folder, "policy", &error), error,
        "cannot read policy: Is a directory");
    fclose(folder);
}

/* Takes one sample a second and returns the number of switches, at least `stay` apart. */
static size_t follow(struct ssactuate_decision *decision, ss_time from, ss_time until,
    double (*load_at)(ss_time now)) {
    size_t switches = 0;
    ss_time latest = 0;
    for (ss_time now = from; now < until; now += SS_SECOND) {
        size_t rule = ssactuate_decide(decision, now, load_at(now));
        if (rule == decision->rule)
            continue;
        if (switches++ > 0)
            assert_that(now - latest, >=, policy.stay);
        ssactuate_decision_update(decision, now, rule);
        latest = now;
    }
    return switches;
}

#define TWO_RULES "stay 10s\nbelow 40% pin=per-thread\nabove 60% pin=per-chip\n"

/* 20 % and 80 % of background load, each for a minute. */
static double alternate(ss_time now) {
    return now / (60 * SS_SECOND) % 2 == 0 ? 0.2 : 0.8;
}

TEST(rules_switch_when_the_load_crosses_a_threshold) {
    open_policy(TWO_RULES);
    struct ssactuate_decision decision = {.policy = &policy};
    assert_that(follow(&decision, 0, 60 * SS_SECOND, alternate), ==, 0);
    assert_that(follow(&decision, 60 * SS_SECOND, 61 * SS_SECOND, alternate), ==, 1);
    assert_that(decision.rule, ==, 1);
    assert_that(follow(&decision, 61 * SS_SECOND, 120 * SS_SECOND, alternate), ==, 0);
    assert_that(follow(&decision, 120 * SS_SECOND, 600 * SS_SECOND, alternate), ==, 8);
}

/* Noise around 60 %, which never falls below 40 %. */
static double tremble(ss_time now) {
    return now / SS_SECOND % 2 == 0 ? 0.58 : 0.62;
}

TEST(noise_at_a_threshold_causes_only_one_switch) {
    open_policy(TWO_RULES);
    struct ssactuate_decision decision = {.policy = &policy};
    assert_that(follow(&decision, 0, 1000 * SS_SECOND, tremble), ==, 1);
}

static double leap(ss_time now) {
    return now / SS_SECOND % 2 == 0 ? 0.1 : 0.9;
}

TEST(switches_keep_the_shortest_stay_between_them) {
    open_policy(TWO_RULES);
    struct ssactuate_decision decision = {.policy = &policy};
    assert_in_range(follow(&decision, 0, 1000 * SS_SECOND, leap), 80, 100);
}

TEST(unknown_load_changes_nothing) {
    open_policy(TWO_RULES);
    struct ssactuate_decision decision = {.policy = &policy};
    assert_that(ssactuate_decide(&decision, SS_SECOND, NAN), ==, 0);
    assert_that(ssactuate_decide(&decision, SS_SECOND, 0.5), ==, 0);
    assert_that(ssactuate_decide(&decision, SS_SECOND, 0.61), ==, 1);
}

UNIT_RUN
