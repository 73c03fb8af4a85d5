/* SPDX-License-Identifier: Apache-2.0 */
#include "result_document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/owned.h"
#include "base/version.h"
#include "base/whole_file.h"
#include "show.h"

/* Prints all digits: a double cannot represent every seed. */
static void print_integer(struct ss_json *json, const char *name, uint64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    ss_json_digits(json, name, digits);
}

static void print_time(struct ss_json *json, const char *name, ss_time time) {
    ss_json_number(json, name, time == SS_TIME_NEVER ? NAN : ss_time_seconds(time));
}

static void print_url(struct ss_json *json, const char *name, const char *url) {
    SS_OWNED(free) char *shown = request_show_url(url);
    ss_json_text(json, name, shown);
}

static void print_profile(struct ss_json *json, const struct request_result *result) {
    ss_json_open(json, "profile", '{');
    ss_json_text(json, "kind", request_shape_name((enum request_shape)result->given.shape));

    if (result->given.shape == REQUEST_STEP) {
        ss_json_number(json, "max", result->given.max);
        ss_json_number(json, "step", result->given.step);
        print_time(json, "hold_seconds", result->given.hold);
    } else {
        ss_json_number(json, "rate", result->given.rate);
    }

    if (result->given.shape == REQUEST_TRACE)
        ss_json_text(json, "trace", result->given.trace);
    ss_json_bool(json, "changed", result->rate_changed);
    print_time(json, "length_seconds", request_profile_length(result->profile));
    ss_json_close(json, '}');
}

/* Prints null for values that do not apply to this kind of loop. */
static void print_request(struct ss_json *json, const struct request_result *result) {
    bool closed = result->rules.clients > 0;

    ss_json_text(json, "loop", closed ? "closed" : "open");
    ss_json_open(json, "targets", '[');
    for (size_t i = 0; i < result->target_count; i++)
        print_url(json, NULL, result->targets[i]);
    ss_json_close(json, ']');
    ss_json_text(json, "balance", request_balance_name(result->rules.balance));

    if (closed) {
        print_integer(json, "clients", result->rules.clients);
        ss_json_text(json, "profile", NULL);
        ss_json_text(json, "arrival", NULL);
        ss_json_text(json, "seed", NULL);
    } else {
        ss_json_text(json, "clients", NULL);
        if (result->held)
            ss_json_text(json, "profile", NULL);
        else
            print_profile(json, result);
        ss_json_text(
            json, "arrival", request_arrival_name((enum request_arrival)result->given.arrival));
        print_integer(json, "seed", result->given.seed);
    }

    print_integer(json, "cap", result->rules.cap);
    /* Clients never exceed the cap, which is their number. */
    ss_json_text(json, "when_full",
        result->rules.clients ? NULL : request_when_full_name(result->rules.when_full));
    print_time(
        json, "timeout_seconds", result->tally ? result->tally->timeout : result->given.timeout);
}

static void print_counts(struct ss_json *json, const struct request_tally *tally) {
    print_integer(json, "intended", tally->intended);
    print_integer(json, "sent", tally->sent);
    print_integer(json, "refused", tally->refused);
    print_integer(json, "waiting", tally->waiting);
    print_integer(json, "unfinished", tally->unfinished);
    print_integer(json, "succeeded", tally->outcomes[REQUEST_SUCCESS]);
    print_integer(json, "failed", request_tally_failed(tally));

    ss_json_open(json, "causes", '{');
    for (int i = REQUEST_SUCCESS + 1; i < REQUEST_OUTCOMES; i++)
        print_integer(json, request_outcome_name((enum request_outcome)i), tally->outcomes[i]);
    ss_json_close(json, '}');

    ss_json_number(json, "success_ratio", request_success_ratio(tally));
    print_integer(json, "bytes", tally->bytes);
}

static void print_distribution(
    struct ss_json *json, const char *name, const struct ss_histogram *times) {
    static const struct {
        const char *name;
        double share;
    } quantiles[] = {{"p50_seconds", 0.5}, {"p90_seconds", 0.9}, {"p95_seconds", 0.95},
        {"p99_seconds", 0.99}, {"p99_9_seconds", 0.999}};

    ss_json_open(json, name, '{');
    print_integer(json, "count", times->count);
    ss_json_number(json, "mean_seconds", ss_histogram_mean(times));
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        ss_json_number(json, quantiles[i].name, ss_histogram_quantile(times, quantiles[i].share));
    ss_json_number(json, "most_seconds", ss_histogram_quantile(times, 1));
    ss_json_close(json, '}');
}

static void print_origins(
    struct ss_json *json, const char *name, const struct ss_histogram *times) {
    ss_json_open(json, name, '{');
    print_distribution(json, "intended", &times[REQUEST_INTENDED]);
    print_distribution(json, "actual", &times[REQUEST_ACTUAL]);
    ss_json_close(json, '}');
}

static void print_end(struct ss_json *json, const char *rate, const char *times,
    const struct request_trials *trials, unsigned count) {
    ss_json_number(json, rate, trials->rate > 0 ? trials->rate : NAN);
    print_integer(json, times, count);
}

static void print_capacity(struct ss_json *json, const struct request_result *result) {
    const struct request_capacity *capacity = result->capacity;
    const struct request_capacity_result found = request_capacity_result(capacity);

    ss_json_open(json, "capacity", '{');
    ss_json_text(json, "demand", result->criterion);
    print_end(json, "held_rate", "held_times", &found.held, found.held.held);
    print_end(json, "failed_rate", "failed_times", &found.failed, found.failed.failed);
    ss_json_bool(json, "sure", found.sure);

    ss_json_open(json, "rates", '[');
    for (size_t i = 0; i < capacity->rate_count; i++) {
        ss_json_open(json, NULL, '{');
        ss_json_number(json, "rate", capacity->rates[i].rate);
        print_integer(json, "held", capacity->rates[i].held);
        print_integer(json, "failed", capacity->rates[i].failed);
        ss_json_close(json, '}');
    }
    ss_json_close(json, ']');

    ss_json_open(json, "trials", '[');
    for (unsigned i = 0; i < capacity->trial_count; i++) {
        ss_json_open(json, NULL, '{');
        ss_json_number(json, "rate", capacity->trials[i].rate);
        ss_json_number(json, "value_seconds", capacity->trials[i].seconds);
        ss_json_number(json, "success_ratio", capacity->trials[i].success_ratio);
        ss_json_bool(json, "held", capacity->trials[i].held);
        ss_json_bool(json, "stationary", capacity->trials[i].steady);
        ss_json_number(json, "measured_seconds", capacity->trials[i].measured);
        ss_json_number(json, "duration_seconds", capacity->trials[i].took);
        ss_json_number(json, "own_cpu_seconds", capacity->trials[i].own_cpu);
        ss_json_number(json, "own_cpu_wait_seconds", capacity->trials[i].own_wait);
        print_integer(json, "resources", capacity->trials[i].resource_failures);
        ss_json_bool(json, "generator_limited", request_trial_is_limited(&capacity->trials[i]));
        ss_json_close(json, '}');
    }
    ss_json_close(json, ']');

    ss_json_bool(json, "upper_bound", found.upper_bound);
    ss_json_bool(json, "lower_bound", found.lower_bound);
    ss_json_close(json, '}');
}

/* Prints the number of complete answers by status, and when requests failed. */
static void print_answers(struct ss_json *json, const struct request_result *result) {
    const struct request_tally *tally = result->tally;
    bool failed = tally->first_failure != SS_TIME_NEVER;

    ss_json_open(json, "statuses", '{');
    for (unsigned i = 0; i < REQUEST_STATUSES; i++) {
        char name[8];
        snprintf(name, sizeof name, "%u", i);
        if (tally->statuses[i] > 0)
            print_integer(json, name, tally->statuses[i]);
    }
    ss_json_close(json, '}');

    ss_json_number(json, "first_failure_seconds",
        failed ? ss_time_seconds(ss_time_since(tally->first_failure, result->counted_from)) : NAN);
    ss_json_number(json, "last_failure_seconds",
        failed ? ss_time_seconds(ss_time_since(tally->last_failure, result->counted_from)) : NAN);
}

static void print_per_target(struct ss_json *json, const struct request_per_target *per_target) {
    size_t count = per_target ? per_target->count : 0;

    ss_json_open(json, "per_target", '[');
    for (size_t i = 0; i < count; i++) {
        const struct request_target_counts *target = &per_target->targets[i];
        ss_json_open(json, NULL, '{');
        print_url(json, "url", target->url);
        print_integer(json, "sent", target->succeeded + target->failed + target->unfinished);
        print_integer(json, "succeeded", target->succeeded);
        print_integer(json, "failed", target->failed);
        print_integer(json, "unfinished", target->unfinished);
        ss_json_number(json, "mean_seconds", ss_histogram_mean(&target->successes));
        ss_json_number(json, "p95_seconds", ss_histogram_quantile(&target->successes, 0.95));
        ss_json_number(json, "p99_seconds", ss_histogram_quantile(&target->successes, 0.99));
        ss_json_close(json, '}');
    }
    ss_json_close(json, ']');
}

static void print_figures(struct ss_json *json, const struct request_result *result) {
    const struct request_tally *tally = result->tally;

    print_counts(json, tally);
    ss_json_number(json, "duration_seconds", ss_time_seconds(result->took));
    ss_json_number(json, "throughput", request_throughput(result));
    print_integer(json, "unfinished_most", tally->unfinished_max);
    ss_json_number(json, "own_cpu_seconds", result->own_cpu_seconds);
    ss_json_number(json, "connections", result->connections);

    print_distribution(json, "lateness", &tally->lateness);
    ss_json_open(json, "response", '{');
    print_origins(json, "successes", tally->successes);
    print_origins(json, "all", tally->all);
    ss_json_close(json, '}');

    print_answers(json, result);
    ss_json_number(json, "own_cpu_wait_seconds", result->own_wait_seconds);
    print_per_target(json, result->per_target);
}

/* Prints only the names of headers, because values may be secrets. */
static void print_messages(struct ss_json *json, const struct request_messages *messages) {
    const struct request_message *only = messages->file ? NULL : messages->list;

    ss_json_text(json, "method", only ? only->method : NULL);
    ss_json_number(json, "data_bytes", only && only->body ? (double)only->body_size : NAN);
    ss_json_text(json, "requests_file", messages->file);

    ss_json_open(json, "headers", '[');
    for (size_t i = 0; i < messages->header_count; i++) {
        const char *header = messages->headers[i];
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(header, ":;"), header);
        ss_json_text(json, NULL, name);
    }
    ss_json_close(json, ']');
}

static void print_held(struct ss_json *json, const struct request_held_load *held) {
    ss_json_open(json, "held", '{');
    ss_json_text(json, held->follows ? "trace" : "load", held->target);
    ss_json_number(json, "cpus", held->cpus);

    ss_json_number(json, "seconds", held->seconds);
    ss_json_number(json, "target_mean", held->target_mean);
    ss_json_number(json, "load_mean", held->load_mean);
    ss_json_number(json, "error_mean_percent", held->error_mean_percent);
    ss_json_number(json, "error_mse_e4", held->error_mse_e4);
    ss_json_number(json, "overshoot_percent", held->overshoot_percent);
    ss_json_number(json, "settled_seconds", held->settled_seconds);

    ss_json_number(json, "cpu_seconds_per_request", held->cost);
    ss_json_number(json, "rate", held->rate);
    ss_json_number(json, "rate_low", held->rate_low);
    ss_json_number(json, "rate_high", held->rate_high);

    ss_json_open(json, "episode_rates", '[');
    for (uint32_t i = 0; i < held->episodes; i++)
        ss_json_number(json, NULL, held->episode_rates[i]);
    ss_json_close(json, ']');

    ss_json_bool(json, "correlated", held->correlated);
    ss_json_number(json, "cost_change", held->cost_change);
    ss_json_number(json, "background_cpus", held->background);
    ss_json_number(json, "limited_seconds", held->limited_seconds);
    ss_json_close(json, '}');
}

static void print_machine(struct ss_json *json, const struct request_machine *machine) {
    ss_json_open(json, "machine", '{');
    ss_json_number(json, "active", machine->active);
    ss_json_number(json, "idle", machine->idle);
    ss_json_number(json, "watts", machine->watts);
    ss_json_number(json, "joules_per_success", machine->joules_per_success);
    ss_json_number(json, "speed", machine->speed);
    ss_json_number(json, "contention_a", machine->contention[0]);
    ss_json_number(json, "contention_b", machine->contention[1]);
    ss_json_close(json, '}');
}

void request_document_print(FILE *stream, const struct request_result *result) {
    struct ss_json json = {.stream = stream};

    ss_json_open(&json, NULL, '{');
    ss_json_text(&json, "program", result->program);
    ss_json_number(&json, "schema", SS_RECORD_SCHEMA);
    ss_json_text(&json, "version", ss_version());
    ss_json_number(&json, "begin_epoch_seconds", result->begin);
    ss_json_number(&json, "end_epoch_seconds",
        result->begin + ss_time_seconds(result->counted_from + result->left_out + result->took));
    print_request(&json, result);

    if (result->capacity)
        print_capacity(&json, result);
    else
        print_figures(&json, result);

    if (result->messages)
        print_messages(&json, result->messages);
    if (result->held)
        print_held(&json, result->held);
    if (result->machine)
        print_machine(&json, result->machine);

    if (!result->capacity) {
        struct ss_verdict verdict = request_verdict(result);
        ss_verdict_print_json(&json, &verdict);
    }
    ss_json_close(&json, '}');
}

int request_document_write(
    const char *path, const struct request_result *result, struct ss_error *error) {
    struct ss_whole_file file;
    if (ss_whole_file_begin(&file, path, error) < 0)
        return -1;
    request_document_print(file.stream, result);
    return ss_whole_file_end(&file, path, error);
}
