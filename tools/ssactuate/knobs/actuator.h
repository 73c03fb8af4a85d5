/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_ACTUATOR_H
#define SSACTUATE_ACTUATOR_H

#include <stdio.h>

#include "journal.h"
#include "limit_group.h"
#include "placement.h"
#include "platform/platform.h"

/* The machine whose knobs are turned. */
struct ssactuate_machine {
    const char *root; /* NULL: this machine */
    struct sys_tree tree;
    char *proc, *sys, *cgroup; /* owned; the paths of `roots` */
    struct ss_platform_roots roots;
};

SS_MUST_USE SS_NONNULL(1) int ssactuate_machine_open(
    struct ssactuate_machine *machine, const char *root, struct ss_error *error);
SS_NONNULL() void ssactuate_machine_close(struct ssactuate_machine *machine);

/* ssrequest accepts up to this many URLs. */
#define SSACTUATE_INSTANCES_MAX 64
#define SSACTUATE_URL_SIZE      300

/* The period of a quota, unless its level gives another one. */
#define SSACTUATE_PERIOD (100 * SS_MILLISECOND)

/* All changes that the knobs of a run require. */
struct ssactuate_plan {
    struct ssactuate_setting *settings; /* in the order in which they are set */
    size_t count, room;

    /* The following fields limit the command only, not the machine. */
    bool pinned;        /* `pin` excludes CPUs */
    bool ordered;       /* `pin` gives an order of CPUs, of which `cpus` takes the first */
    bool binds_threads; /* bind each thread to one CPU */
    struct topology_order cpus;
    uint64_t cpu_count; /* 0: not limited */
    double quota;       /* CPUs; 0: not limited */
    ss_time period;
    uint64_t memory; /* bytes; 0: not limited */
    double duty;     /* 0: not throttled */
    ss_time tau;
    char size[64]; /* the name of a size, or empty */

    uint32_t instances;                    /* copies of the command; 0: the command itself */
    char instance_url[SSACTUATE_URL_SIZE]; /* URL of a copy, with {port} */
};

/* Adds a setting at the end. Removes an earlier setting of the same file. */
SS_MUST_USE SS_NONNULL(1, 2) int ssactuate_plan_add(
    struct ssactuate_plan *plan, const struct ssactuate_setting *setting, struct ss_error *error);
/* Removes the settings of all files whose paths begin with `beginning`. */
SS_NONNULL() void ssactuate_plan_remove(struct ssactuate_plan *plan, const char *beginning);
SS_NONNULL() void ssactuate_plan_free(struct ssactuate_plan *plan);

/* A word of the command line: ACTUATOR[@TARGET][=LEVEL]. */
struct ssactuate_knob {
    const struct ssactuate_machine *machine; /* NULL after ssactuate_knob_parse() */
    const struct ssactuate_actuator *actuator;
    char target[64];   /* empty: not given */
    const char *text;  /* the whole word */
    const char *level; /* a part of `text`; empty: not given */
};

/* A row of the table of actuators. It restores nothing: the journal does that for all of them. */
struct ssactuate_actuator {
    const char *name;
    const char *syntax;    /* the syntax of a level */
    const char *mechanism; /* the mechanism */

    /* Fails, with the reason, unless the machine has the knob. If NULL, every machine has it. */
    int (*probe)(const struct ssactuate_knob *knob, struct ss_error *reason);

    /* Writes the levels available on this machine. If NULL, `syntax` is written. */
    void (*levels)(const struct ssactuate_machine *machine, FILE *stream);

    const char *constant_level; /* the level, if it is always the same; NULL: get() writes it */

    /* Writes the current level as NAME=LEVEL, in a form that set() accepts. */
    int (*get)(const struct ssactuate_knob *knob, FILE *stream, struct ss_error *error);

    /* Checks the level of a knob, and adds its changes to the plan. */
    int (*set)(
        const struct ssactuate_knob *knob, struct ssactuate_plan *plan, struct ss_error *error);

    bool has_targets;
};

extern const struct ssactuate_actuator ssactuate_frequency, ssactuate_pin, ssactuate_cpus,
    ssactuate_quota, ssactuate_memory, ssactuate_instances, ssactuate_duty, ssactuate_power,
    ssactuate_idle;

/*
 * Plans the CPUs of the command (`side` 0) or of the side command (1) for a level of `pin`. A
 * division gives one half to each.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_pin_place(const struct ssactuate_machine *machine,
    const char *level, int side, struct ssactuate_plan *plan, struct ss_error *error);

/* Finds showstopper in the folder of this program or in PATH; NULL if absent. free() the result. */
char *ssactuate_find_showstopper(void);

/* Fails, with the reason, unless the machine has the knob. */
SS_MUST_USE SS_NONNULL() int ssactuate_knob_probe(
    const struct ssactuate_knob *knob, struct ss_error *reason);

/* Finds the actuator of a word and splits it. `text` must outlive the knob. */
SS_MUST_USE SS_NONNULL() int ssactuate_knob_parse(
    struct ssactuate_knob *knob, const char *text, struct ss_error *error);

/*
 * Plans the knobs of a run, given as words, in their order. `size=NAME:cpus=N,quota=P,memory=M` is
 * short for these three knobs. Free the plan in any case.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_plan_make(struct ssactuate_plan *plan,
    const struct ssactuate_machine *machine, const char *const *words, struct ss_error *error);

/* Writes the levels and the mechanism of each actuator, or why the machine lacks it. */
SS_NONNULL() void ssactuate_list_print(const struct ssactuate_machine *machine, FILE *stream);

#endif
