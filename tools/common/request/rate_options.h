/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_RATE_OPTIONS_H
#define REQUEST_RATE_OPTIONS_H

/* Options for the rate of requests, shared by ssrequest and sssim queue. */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>

#include "generator.h"
#include "options/arguments.h"

/* In the order of the choices of --profile. */
enum request_shape {
    REQUEST_CONSTANT,
    REQUEST_STEP,
    REQUEST_TRACE,
};

/* Default of --duration for REQUEST_CONSTANT and a closed loop, which would otherwise never end. */
#define REQUEST_DURATION_DEFAULT (10 * SS_SECOND)

struct request_rate_options {
    int shape;              /* enum request_shape; -1 if not given */
    double rate, max, step; /* requests per second; NaN if not given */
    ss_time duration, hold; /* SS_TIME_NEVER if not given */
    const char *trace;      /* path; NULL if not given */
    uint64_t closed, cap;   /* 0 if not given */
    int when_full;          /* enum request_when_full */
    int arrival;            /* enum request_arrival */
    int balance;            /* enum request_balance */
    uint64_t seed;
    ss_time timeout; /* limit of a request; sssim queue: 0 for none */
};

// clang-format off
/* Rows for all members but the timeout, for a structure with the member `given`. */
#define REQUEST_ARGUMENTS(config)                                                                   \
    {0, "PROFILE", {"profile", SS_OPTION_CHOICE, .offset = offsetof(config, given.shape),           \
        .choices = "constant step trace",                                                           \
        .help = "constant: --rate for --duration; step: 0, --step, 2 times --step and so on below " \
                "--max, each for --hold; trace: --rate times the load of --trace; default: the one " \
                "that the other options imply"},                                                    \
        .heading = "Rate:", .excludes = "closed"},                                                  \
    {'r', "NUMBER", {"rate", SS_OPTION_NUMBER, .offset = offsetof(config, given.rate),              \
        .max = "1000000", .help = "requests per second; with a trace, at a load of 1"},             \
        .excludes = "closed"},                                                                      \
    {'d', "TIME", {"duration", SS_OPTION_TIME, .offset = offsetof(config, given.duration),          \
        .min = "1us", .max = "36500d", .sensible = "500ms",                                         \
        .help = "send for this long; 60s with -l; default 10s, or the length of the trace"}},       \
    {0, "NUMBER", {"max", SS_OPTION_NUMBER, .offset = offsetof(config, given.max),                  \
        .max = "1000000", .help = "with steps, end before this rate"}, .excludes = "closed"},       \
    {0, "NUMBER", {"step", SS_OPTION_NUMBER, .offset = offsetof(config, given.step),                \
        .min = "0.001", .help = "with steps, increase the rate by this much per step, from 0"},     \
        .excludes = "closed"},                                                                      \
    {0, "TIME", {"hold", SS_OPTION_TIME, .offset = offsetof(config, given.hold), .min = "1ms",      \
        .max = "36500d", .sensible = "500ms", .help = "with steps, hold each rate for this long"},  \
        .excludes = "closed"},                                                                      \
    {0, "FILE", {"trace", SS_OPTION_TEXT, .offset = offsetof(config, given.trace),                  \
        .help = "follow this trace, text or compiled"}, .excludes = "closed"},                      \
    {0, "CLIENTS", {"closed", SS_OPTION_COUNT_AT(config, given.closed), .min = "1",                 \
        .max = "1000000",                                                                           \
        .help = "instead of a rate: this many clients, each sending its next request after the "    \
                "answer to the last one (a closed loop, as in wrk and ab)"}},                       \
    {0, "WHEN", {"arrival", SS_OPTION_CHOICE, .offset = offsetof(config, given.arrival),            \
        .choices = "concurrent even poisson", .initial = "even",                                    \
        .help = "when the requests of a second are due: all at its start, at equal intervals, or "  \
                "with exponential gaps"}},                                                          \
    {0, "NUMBER", {"seed", SS_OPTION_COUNT_AT(config, given.seed), .initial = "1",                  \
        .help = "seed of the random numbers"}},                                                     \
    {0, "NUMBER", {"cap", SS_OPTION_COUNT_AT(config, given.cap), .min = "1", .max = "1000000",      \
        .help = "allow at most this many unfinished requests; default 200"}, .excludes = "closed"}, \
    {0, "WHAT", {"when-full", SS_OPTION_CHOICE, .offset = offsetof(config, given.when_full),        \
        .choices = "delay drop", .initial = "delay",                                                \
        .help = "delay or drop a request that is due at the cap; the response time of a delayed "   \
                "one counts from when it was due"}},                                                \
    {0, "HOW", {"balance", SS_OPTION_CHOICE, .offset = offsetof(config, given.balance),             \
        .choices = "round-robin least-connections", .initial = "round-robin",                       \
        .help = "how to choose among several targets: each in turn, or the one with the fewest "    \
                "unfinished requests"}}
// clang-format on

/* Return names as in options and JSON: "constant", "round-robin", ... */
const char *request_shape_name(enum request_shape shape);
const char *request_arrival_name(enum request_arrival arrival);
const char *request_when_full_name(enum request_when_full when_full);
const char *request_balance_name(enum request_balance balance);

/* Returns options of which none is given. */
struct request_rate_options request_rate_unset(void);

/*
 * Checks that the options are consistent, and sets the defaults of the shape, which follows from
 * the other options, and of the cap: 200 or, with `closed`, the number of clients. `finds_rate`: a
 * search finds the rate, so --rate is not required.
 */
SS_MUST_USE SS_NONNULL(1) int request_rate_complete(
    struct request_rate_options *given, bool finds_rate, struct ss_error *error);

/* Makes the profile, and reads a trace if one is given. With `closed` the profile is empty. */
SS_MUST_USE SS_NONNULL(1, 2) int request_rate_profile(const struct request_rate_options *given,
    struct request_profile *profile, struct ss_error *error);

/*
 * Returns rules for the generator; the caller sets the targets. Sending ends with the profile; with
 * `closed`, after the duration.
 */
SS_MUST_USE SS_NONNULL() struct request_rules request_rate_rules(
    const struct request_rate_options *given, const struct request_profile *profile);

#endif
