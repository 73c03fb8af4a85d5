/* SPDX-License-Identifier: Apache-2.0 */
#include "run/stage.h"

/* clang-format off */
#define STAY(stage)    {SS_ACTION_NONE,    SS_STAGE_##stage}
#define SUSPEND(stage) {SS_ACTION_SUSPEND, SS_STAGE_##stage}
#define PAUSE(stage)   {SS_ACTION_PAUSE,   SS_STAGE_##stage}
#define END            {SS_ACTION_END,     SS_STAGE_ENDING}
#define LEAVE          {SS_ACTION_LEAVE,   SS_STAGE_OVER}

static const struct ss_step steps[][SS_EVENTS] = {
    /*                     time                                    started                               pause              signal                              end           gone */
    [SS_STAGE_WAITING]  = {{SS_ACTION_START, SS_STAGE_STARTING},   STAY(WAITING),                        SUSPEND(WAITING),  END,                                END,          STAY(WAITING)},
    [SS_STAGE_STARTING] = {STAY(STARTING),                         {SS_ACTION_WARM_UP, SS_STAGE_WARMUP}, SUSPEND(STARTING), END,                                END,          LEAVE},
    [SS_STAGE_WARMUP]   = {{SS_ACTION_SETTLE, SS_STAGE_SETTLING},  STAY(WARMUP),                         PAUSE(WARMUP),     END,                                END,          LEAVE},
    [SS_STAGE_SETTLING] = {{SS_ACTION_COUNT, SS_STAGE_COUNTING},   STAY(SETTLING),                       PAUSE(SETTLING),   END,                                END,          LEAVE},
    [SS_STAGE_COUNTING] = {{SS_ACTION_FINISH, SS_STAGE_ENDING},    STAY(COUNTING),                       PAUSE(COUNTING),   END,                                END,          LEAVE},
    [SS_STAGE_ENDING]   = {{SS_ACTION_KILL, SS_STAGE_ENDING},      STAY(ENDING),                         STAY(ENDING),      {SS_ACTION_HURRY, SS_STAGE_ENDING}, STAY(ENDING), LEAVE},
    [SS_STAGE_OVER]     = {STAY(OVER),                             STAY(OVER),                           STAY(OVER),        STAY(OVER),                         STAY(OVER),   STAY(OVER)},
};
/* clang-format on */

_Static_assert(sizeof steps / sizeof *steps == SS_STAGES, "a row for each stage");

struct ss_step ss_stage_step(enum ss_stage stage, enum ss_event event) {
    return steps[stage][event];
}
