/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_STAGE_H
#define SHOWSTOPPER_RUN_STAGE_H

/* The life of a run: a table with the action for each event in each stage, and the next stage. */

enum ss_stage {
    SS_STAGE_WAITING,  /* until the instances must be started to meet --start-at */
    SS_STAGE_STARTING, /* instances are being started */
    SS_STAGE_WARMUP,   /* all instances run, uncontrolled */
    SS_STAGE_SETTLING, /* the load is controlled but not counted */
    SS_STAGE_COUNTING,
    SS_STAGE_ENDING, /* executors end their instances */
    SS_STAGE_OVER,
    SS_STAGES,
};

enum ss_event {
    SS_EVENT_TIME,    /* the planned end of the stage has come */
    SS_EVENT_STARTED, /* every instance has been started */
    SS_EVENT_PAUSE,   /* the terminal requests a pause (Ctrl-Z) */
    SS_EVENT_SIGNAL,  /* a signal requests the end */
    SS_EVENT_END,     /* a failure or an error in the run requires the end */
    SS_EVENT_GONE,    /* no executor is left */
    SS_EVENTS,
};

enum ss_stage_action {
    SS_ACTION_NONE,
    SS_ACTION_START,
    SS_ACTION_WARM_UP,
    SS_ACTION_SETTLE,
    SS_ACTION_COUNT,
    SS_ACTION_FINISH,  /* ends as planned */
    SS_ACTION_END,     /* ends for any other reason */
    SS_ACTION_HURRY,   /* shortens the grace period of the instances */
    SS_ACTION_KILL,    /* kills executors that have not ended in time */
    SS_ACTION_SUSPEND, /* pauses only the master, before any clock runs */
    SS_ACTION_PAUSE,   /* pauses instances, the trace's clock and the master */
    SS_ACTION_LEAVE,
    SS_ACTIONS,
};

struct ss_step {
    enum ss_stage_action action;
    enum ss_stage next;
};

struct ss_step ss_stage_step(enum ss_stage stage, enum ss_event event);

#endif
