/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_REQUESTS_H
#define SHOWSTOPPER_TESTS_REQUESTS_H

/* Made-up results of runs, for tests of their descriptions. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run_result.h"
#include "text.h"

struct made_up {
    struct request_profile profile;
    struct request_tally tally;
    struct request_result result;
};

/* Opens a run at an even 100 requests per second for 10 s; no request is sent yet. */
static inline void made_up_open(struct made_up *made) {
    static const char *const targets[] = {"http://127.0.0.1:8080/", "http://127.0.0.1:8081/\"x\""};
    memset(made, 0, sizeof *made);
    assert_int_equal(request_tally_open(&made->tally, 10 * SS_SECOND, NULL), 0);
    assert_int_equal(request_profile_constant(&made->profile, 100, 10 * SS_SECOND, NULL), 0);
    made->result = (struct request_result){
        .program = "ssrequest",
        .targets = targets,
        .target_count = 2,
        .rules = {.cap = 200, .end = 10 * SS_SECOND, .targets = 2},
        .profile = &made->profile,
        .given = {.rate = 100, .arrival = REQUEST_EVEN, .seed = UINT64_C(18446744073709551557)},
        .begin = 1795000000.25,
        .sending_time = 10 * SS_SECOND,
        .took = 10 * SS_SECOND,
        .own_cpu_seconds = NAN,
        .own_wait_seconds = NAN,
        .connections = NAN,
        .tally = &made->tally,
    };
}

static inline void made_up_trial(struct request_capacity *capacity, double rate, bool held) {
    const struct request_trial trial = {.rate = rate,
        .seconds = 0.25,
        .success_ratio = 0.5,
        .held = held,
        .steady = true,
        .measured = 10,
        .took = 12,
        .own_cpu = 3,
        .own_wait = NAN};
    request_capacity_add(capacity, &trial);
}

static inline void made_up_close(struct made_up *made) {
    request_tally_close(&made->tally);
    request_profile_free(&made->profile);
}

/* Adds a request that was due at `due`, was sent `late` later, and ended after `took`. */
static inline void made_up_end(
    struct made_up *made, ss_time due, ss_time late, ss_time took, enum request_outcome outcome) {
    struct request_ended ended = {.due = due,
        .sent = due + late,
        .finished = due + late + took,
        .outcome = outcome,
        .bytes = 100};
    request_tally_due(&made->tally);
    request_tally_send(&made->tally, ended.due, ended.sent);
    request_tally_end(&made->tally, &ended);
}

static inline void assert_does_not_say(const char *text, const char *words) {
    if (strstr(text, words))
        fail_msg("unexpected '%s' in:\n%s", words, text);
}

#endif
