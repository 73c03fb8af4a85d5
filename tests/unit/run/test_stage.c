/* SPDX-License-Identifier: Apache-2.0 */

#include "run/stage.h"
#include "unit.h"

/* An event in a stage, with its action; pairs that are not listed do nothing. */
struct expected {
    enum ss_stage stage;
    enum ss_event event;
    enum ss_stage_action action;
    enum ss_stage next;
};

static const struct expected table[] = {
    {SS_STAGE_WAITING, SS_EVENT_TIME, SS_ACTION_START, SS_STAGE_STARTING},
    {SS_STAGE_WAITING, SS_EVENT_PAUSE, SS_ACTION_SUSPEND, SS_STAGE_WAITING},
    {SS_STAGE_WAITING, SS_EVENT_SIGNAL, SS_ACTION_END, SS_STAGE_ENDING},
    {SS_STAGE_WAITING, SS_EVENT_END, SS_ACTION_END, SS_STAGE_ENDING},
    {SS_STAGE_STARTING, SS_EVENT_STARTED, SS_ACTION_WARM_UP, SS_STAGE_WARMUP},
    {SS_STAGE_STARTING, SS_EVENT_PAUSE, SS_ACTION_SUSPEND, SS_STAGE_STARTING},
    {SS_STAGE_STARTING, SS_EVENT_SIGNAL, SS_ACTION_END, SS_STAGE_ENDING},
    {SS_STAGE_STARTING, SS_EVENT_END, SS_ACTION_END, SS_STAGE_ENDING},
    {SS_STAGE_STARTING, SS_EVENT_GONE, SS_ACTION_LEAVE, SS_STAGE_OVER},
    {SS_STAGE_WARMUP, SS_EVENT_TIME, SS_ACTION_SETTLE, SS_STAGE_SETTLING},
    {SS_STAGE_WARMUP, SS_EVENT_PAUSE, SS_ACTION_PAUSE, SS_STAGE_WARMUP},
    {SS_STAGE_WARMUP, SS_EVENT_SIGNAL, SS_ACTION_END, SS_STAGE_ENDING},
    {SS_STAGE_WARMUP, SS_EVENT_END, SS_ACTION_END, SS_STAGE_ENDING},
    {SS_STAGE_WARMUP, SS_EVENT_GONE, SS_ACTION_LEAVE, SS_STAGE_OVER},
    {SS_STAGE_SETTLING, SS_EVENT_TIME, SS_ACTION_COUNT, SS_STAGE_COUNTING},
    {SS_STAGE_SETTLING, SS_EVENT_PAUSE, SS_ACTION_PAUSE, SS_STAGE_SETTLING},
    {SS_STAGE_SETTLING, SS_EVENT_SIGNAL, SS_ACTION_END, SS_STAGE_ENDING},
    {SS_STAGE_SETTLING, SS_EVENT_END, SS_ACTION_END, SS_STAGE_ENDING},
    {SS_STAGE_SETTLING, SS_EVENT_GONE, SS_ACTION_LEAVE, SS_STAGE_OVER},
    {SS_STAGE_COUNTING, SS_EVENT_TIME, SS_ACTION_FINISH, SS_STAGE_ENDING},
    {SS_STAGE_COUNTING, SS_EVENT_PAUSE, SS_ACTION_PAUSE, SS_STAGE_COUNTING},
    {SS_STAGE_COUNTING, SS_EVENT_SIGNAL, SS_ACTION_END, SS_STAGE_ENDING},
    {SS_STAGE_COUNTING, SS_EVENT_END, SS_ACTION_END, SS_STAGE_ENDING},
    {SS_STAGE_COUNTING, SS_EVENT_GONE, SS_ACTION_LEAVE, SS_STAGE_OVER},
    {SS_STAGE_ENDING, SS_EVENT_TIME, SS_ACTION_KILL, SS_STAGE_ENDING},
    {SS_STAGE_ENDING, SS_EVENT_SIGNAL, SS_ACTION_HURRY, SS_STAGE_ENDING},
    {SS_STAGE_ENDING, SS_EVENT_GONE, SS_ACTION_LEAVE, SS_STAGE_OVER},
};

static struct expected expect(enum ss_stage stage, enum ss_event event) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].stage == stage && table[i].event == event)
            return table[i];
    }
    return (struct expected){stage, event, SS_ACTION_NONE, stage};
}

TEST(stage_table_has_the_expected_actions) {
    for (int stage = 0; stage < SS_STAGES; stage++) {
        for (int event = 0; event < SS_EVENTS; event++) {
            struct expected expected = expect(stage, event);
            struct ss_step step = ss_stage_step(stage, event);
            if (step.action != expected.action || step.next != expected.next)
                fail_msg(
                    "stage %d, event %d: action %d, next %d", stage, event, step.action, step.next);
        }
    }
}

UNIT_RUN
