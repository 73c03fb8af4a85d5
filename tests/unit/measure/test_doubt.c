/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "measure/doubt.h"
#include "unit.h"

/* Two instances on four CPUs. Each row gives their use of the CPUs, and what else is known. */
TEST(doubts_are_blamed_on_their_cause) {
    static const struct {
        enum ss_doubt_kind kind;
        double instances_use, others_use, own_use, idle;
        double running;
        double quota_cpus, throttled;
        const char *open_loop;
        bool attached;
        enum ss_doubt_cause cause;
        const char *advice; /* a part of the text */
    } cases[] = {
        {SS_DOUBT_BELOW, 0.5, 0.01, 0, 0.48, 2, 0, 0, NULL, 0, SS_DOUBT_FEW, "run more instances"},
        {SS_DOUBT_BELOW, 0.5, 0.01, 0, 0.48, 2, 0, 0, NULL, 1, SS_DOUBT_FEW, "lower the target"},
        {SS_DOUBT_BELOW, NAN, NAN, 0, NAN, 2, 0, 0, NULL, 0, SS_DOUBT_FEW, "run more instances"},
        /* If CPUs are idle, other processes take none from the instances. */
        {SS_DOUBT_BELOW, 0.5, 0.4, 0, 0.06, 2, 0, 0, NULL, 0, SS_DOUBT_FEW, "40 %"},
        {SS_DOUBT_BELOW, 0.4, 0.58, 0, 0.02, 2, 0, 0, NULL, 0, SS_DOUBT_BUSY, "no CPU was idle"},
        {SS_DOUBT_BELOW, 0.25, 0.01, 0, 0.48, 1, 0, 0, NULL, 0, SS_DOUBT_ENDED, "1 of 2"},
        {SS_DOUBT_BELOW, 0.25, 0.01, 0, 0, 1, 0, 0, "fixed", 0, SS_DOUBT_ENDED, "1 of 2"},
        /* On average less than half an instance has ended, which is too little to be the cause. */
        {SS_DOUBT_BELOW, 0.25, 0.01, 0, 0, 1.6, 0, 0, "fixed", 0, SS_DOUBT_OPEN_LOOP, "'fixed'"},
        {SS_DOUBT_BELOW, 0.5, 0.01, 0, 0.48, 2, 0, 0, "fixed", 0, SS_DOUBT_OPEN_LOOP, "'fixed'"},
        {SS_DOUBT_BELOW, 0.125, 0.01, 0, 0.48, 1, 0.5, 0.97, NULL, 0, SS_DOUBT_QUOTA, "quota"},
        {SS_DOUBT_BELOW, 0.125, 0.01, 0, 0.48, 2, 0.5, 0.1, NULL, 0, SS_DOUBT_FEW, "run more"},
        {SS_DOUBT_BELOW, 0.125, 0.01, 0, 0.48, 2, 0, 1, NULL, 0, SS_DOUBT_FEW, "run more"},
        {SS_DOUBT_BELOW, 0.4, 0.01, 0.58, 0.01, 2, 0, 0, NULL, 0, SS_DOUBT_OWN, "longer round"},
        {SS_DOUBT_BELOW, 0.4, 0.01, 0.58, 0.2, 2, 0, 0, NULL, 0, SS_DOUBT_FEW, "run more"},
        {SS_DOUBT_ABOVE, 0.01, 0.98, 0, 0.01, 2, 0, 0, NULL, 0, SS_DOUBT_OTHERS, "98 %"},
        {SS_DOUBT_ABOVE, NAN, NAN, 0, NAN, 2, 0, 0, NULL, 0, SS_DOUBT_OTHERS, "stayed stopped"},
        {SS_DOUBT_ABOVE, 0.6, 0.05, 0, 0.01, 2, 0, 0, NULL, 0, SS_DOUBT_ESCAPED, "60 %"},
        /* On an idle machine no process uses much. */
        {SS_DOUBT_ABOVE, 0.015, 0.01, 0, 0.9, 2, 0, 0, NULL, 0, SS_DOUBT_OTHERS, "stayed stopped"},
        {SS_DOUBT_ABOVE, 0.01, 0.3, 0.7, 0.01, 2, 0, 0, NULL, 0, SS_DOUBT_OWN, "longer round"},
        {SS_DOUBT_ABOVE, 0.01, 0.8, 0.7, 0.01, 2, 0, 0, NULL, 0, SS_DOUBT_OTHERS, "80 %"},
        {SS_DOUBT_ABOVE, 0.01, 0.01, 0.015, 0.9, 2, 0, 0, NULL, 0, SS_DOUBT_OTHERS, "stopped"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ss_doubt doubt = {
            .kind = cases[i].kind,
            .fraction = 0.8,
            .instances_use = cases[i].instances_use,
            .others_use = cases[i].others_use,
            .own_use = cases[i].own_use,
            .idle = cases[i].idle,
            .attached = cases[i].attached,
            .instances = 2,
            .running = cases[i].running,
            .cpus = 4,
            .quota_cpus = cases[i].quota_cpus,
            .throttled = cases[i].throttled,
            .open_loop = cases[i].open_loop,
        };
        char text[256];
        ss_doubt_print(text, sizeof text, &doubt);
        if (ss_doubt_cause(&doubt) != cases[i].cause || !strstr(text, "80 % of the samples") ||
            !strstr(text, cases[i].advice) || strstr(text, "nan"))
            fail_msg("case %zu: cause %d: %s", i, (int)ss_doubt_cause(&doubt), text);
    }
}

/* Feedback from the instances alone: others cannot raise the load, whatever they use. */
TEST(others_are_not_blamed_for_a_load_that_is_not_theirs) {
    static const double uses[] = {0.01, 0.9, NAN};
    for (size_t i = 0; i < 3; i++) {
        struct ss_doubt doubt = {
            .kind = SS_DOUBT_ABOVE,
            .fraction = 0.8,
            .only_instances = true,
            .instances_use = uses[i],
            .others_use = 0.6,
        };
        char text[256];
        ss_doubt_print(text, sizeof text, &doubt);
        assert_that(ss_doubt_cause(&doubt), ==, SS_DOUBT_ESCAPED);
        assert_non_null(strstr(text, "80 % of the samples"));
        assert_null(strstr(text, "other processes"));
    }
}

UNIT_RUN
