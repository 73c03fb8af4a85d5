/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_POLICY_H
#define SSACTUATE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

/*
 * A policy assigns levels to loads. Each line of its text is one of these:
 *
 *   load SOURCE [ARGUMENT]   where the load comes from
 *   every TIME               interval of samples
 *   stay TIME                the shortest time between two switches
 *   below P% KNOB...         a rule for loads below P
 *   above P% KNOB...
 *   between P% Q% KNOB...
 *
 * At a load that no rule covers, the current rule stays in force: such gaps provide hysteresis. The
 * first rule applies at the start.
 */

enum ssactuate_source {
    SSACTUATE_MACHINE,
    SSACTUATE_GROUP,  /* a control group */
    SSACTUATE_TRACE,  /* a trace that starts with the run */
    SSACTUATE_RECORD, /* the record of a running showstopper */
    SSACTUATE_SIDE,   /* CPU time of the second party; the argument may repeat its name */
};

struct ssactuate_rule {
    size_t line; /* in the file */
    double from, to;
    bool open_from, open_to; /* excludes the load `from` or `to` itself */
    char **words;            /* the words of the line; owned */
    const char *const *knobs;
};

struct ssactuate_policy {
    enum ssactuate_source source;
    char *argument; /* argument of the source; owned; NULL if absent */
    ss_time every, stay;
    struct ssactuate_rule *rules;
    size_t count, room;
};

/* Reads a policy. `name` is the file's name for messages. Free the policy in any case. */
SS_MUST_USE SS_NONNULL() int ssactuate_policy_read(
    struct ssactuate_policy *policy, FILE *stream, const char *name, struct ss_error *error);
SS_NONNULL() void ssactuate_policy_free(struct ssactuate_policy *policy);

/* The rule that applies, and the time of the latest switch. */
struct ssactuate_decision {
    const struct ssactuate_policy *policy;
    size_t rule;
    bool has_switched;
    ss_time latest; /* time of the latest switch, or of the latest attempt */
};

/*
 * Returns the rule that should apply at this load (NaN if unknown). Keeps the current rule until
 * the shortest stay has passed since the latest switch.
 */
SS_MUST_USE SS_NONNULL() size_t
    ssactuate_decide(const struct ssactuate_decision *decision, ss_time now, double load);

/* Records that a rule applies from now on, or that a switch to another rule has failed. */
SS_NONNULL()
void ssactuate_decision_update(struct ssactuate_decision *decision, ss_time now, size_t rule);

#endif
