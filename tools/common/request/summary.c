/* SPDX-License-Identifier: Apache-2.0 */
#include "summary.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <showstopper/contract.h>

#include "options/values.h"
#include "show.h"

/* Mention a time that is more than this many times as long as another one. */
#define REMARKABLE_RATIO 1.5

#define RELIEVE_GENERATOR "Give it a CPU of its own (--own-cpu), or use several generators."
#define SAVE_RESOURCES    "Lower --cap, or raise the limit on open files."

/* Response times are too long if the generator waits for a CPU for more of the time than this. */
#define STARVED_FRACTION 0.05

/* After this time below the target, the load counts as out of reach. */
#define LIMITED_SECONDS 5

/* Report services that use more than this of the CPUs without requests. */
#define BACKGROUND_FRACTION 0.01

/* Do not report an interval as too narrow if it is narrower than this fraction of the rate. */
#define NARROW_FRACTION 0.002

/* Prints a paragraph after a dash. */
SS_FORMAT(2, 3)
static void say(FILE *stream, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fputs("- ", stream);
    ss_option_print_wrapped(stream, 2, text);
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

/* A cause of failures. */
struct cause {
    uint64_t count;
    unsigned place; /* position among causes with equal counts */
    char text[72];
};

#define CAUSES_MAX (REQUEST_OUTCOMES + REQUEST_STATUSES)

static void add_cause(struct cause *causes, size_t *count, uint64_t requests, const char *name) {
    struct cause *cause = &causes[*count];
    if (requests == 0)
        return;
    cause->count = requests;
    cause->place = (unsigned)(*count)++;
    snprintf(cause->text, sizeof cause->text, "%s %s", request_show_count(requests).text, name);
}

static int compare_causes(const void *one, const void *other) {
    const struct cause *a = one, *b = other;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->place < b->place ? -1 : 1;
}

/* Lists the causes, the most frequent first, such as "3 with status 503". Returns their number. */
static size_t list_causes(struct cause causes[CAUSES_MAX], const struct request_tally *tally) {
    size_t count = 0;
    uint64_t with_status = 0;

    for (unsigned status = 400; status < REQUEST_STATUSES; status++) {
        char name[24];
        snprintf(name, sizeof name, "with status %u", status);
        add_cause(causes, &count, tally->statuses[status], name);
        with_status += tally->statuses[status];
    }

    for (int i = REQUEST_SUCCESS + 1; i < REQUEST_OUTCOMES; i++) {
        uint64_t known = i == REQUEST_STATUS ? with_status : 0;
        add_cause(causes, &count, tally->outcomes[i] - known,
            request_outcome_name((enum request_outcome)i));
    }

    qsort(causes, count, sizeof *causes, compare_causes);
    return count;
}

static void report_closed(FILE *stream, const struct request_result *result) {
    uint64_t clients = result->rules.clients;
    say(stream,
        "A closed loop: %s client%s, each sending its next request after the answer to the last "
        "one. A slow service then gets fewer requests, so these times say little about users who "
        "do not wait for each other.",
        request_show_count(clients).text, plural(clients));
}

static void report_rate(FILE *stream, const struct request_result *result) {
    const struct request_tally *tally = result->tally;
    double seconds = ss_time_seconds(result->sending_time);

    /* If all requests were due at the beginning, report the rate at that moment. */
    ss_time end = result->sending_time > 0 ? result->sending_time : 1;
    double offered = result->rate_changed ? (double)tally->intended / ss_time_seconds(end)
                                          : request_mean_rate(result->profile, 0, end);
    bool mean = result->rate_changed || result->given.shape != REQUEST_CONSTANT;

    say(stream,
        "An open loop: %s%s requests per second were intended (%s%s, %s), %s %s due in %s; %s "
        "per second succeeded.",
        request_show_number(offered).text, mean ? " (mean)" : "",
        request_shape_name((enum request_shape)result->given.shape),
        result->rate_changed ? ", then changed" : "",
        request_arrival_name((enum request_arrival)result->given.arrival),
        request_show_count(tally->intended).text, tally->intended == 1 ? "was" : "were",
        request_show_time(seconds).text, request_show_number(request_throughput(result)).text);
}

static bool is_limited(const struct request_held_load *held) {
    return held->limited_seconds > LIMITED_SECONDS;
}

/*
 * Describes the rate at which the service had the load, and its interval: "412 (408 to 416)". If
 * the load was out of reach, describes the rate of successes instead.
 */
static const char *rate_of(char text[128], const struct request_result *result) {
    const struct request_held_load *held = result->held;
    if (is_limited(held))
        return strcpy(text, request_show_number(request_throughput(result)).text);
    if (isnan(held->rate_low))
        return strcpy(text, request_show_number(held->rate).text);
    snprintf(text, 128, "%s (%s to %s)", request_show_number(held->rate).text,
        request_show_number(held->rate_low).text, request_show_number(held->rate_high).text);
    return text;
}

/* Says for which runs the interval of the rate is valid. */
static void report_scope(FILE *stream, const struct request_held_load *held) {
    if (is_limited(held) || held->follows || isnan(held->rate_low))
        return;
    if (held->episodes > 1)
        say(stream,
            "The interval describes %u episodes, each with new connections: a restart of the "
            "service may change the rate by more.",
            held->episodes);
    else
        say(stream, "The interval describes this run only: other runs may differ by more. Use "
                    "--duration 60s or longer, and several --episodes.");
}

/* Reports what makes the rate doubtful. */
static void report_doubts(FILE *stream, const struct request_held_load *held) {
    if (is_limited(held))
        say(stream, "A load of %.1f %% was out of reach: the service answers no more requests.",
            100 * held->target_mean);

    if (fabs(held->cost_change) > 0)
        say(stream,
            "The service had not settled: in the last 10 s, the CPU time of a request %s by %.1f "
            "%%. Use a longer --settle and --duration.",
            held->cost_change > 0 ? "rose" : "fell", 100 * fabs(held->cost_change));

    if (held->background > BACKGROUND_FRACTION * held->cpus)
        say(stream,
            "The service used %.1f %% before the first request: it has other work, or gets "
            "requests from others.",
            100 * held->background / held->cpus);

    if (*held->dominant_process)
        say(stream,
            "%s: each connection stays with one process. More connections spread the work: use "
            "--connections fresh, or omit --http2.",
            held->dominant_process);

    if (held->correlated && held->rate_high - held->rate_low > NARROW_FRACTION * held->rate)
        say(stream, "The interval of the rate is too narrow: the CPU time of requests changed "
                    "slowly. Use a longer --duration.");
}

static void report_held(FILE *stream, const struct request_result *result) {
    const struct request_held_load *held = result->held;
    const struct ss_histogram *times = &result->tally->successes[REQUEST_INTENDED];
    bool limited = is_limited(held);
    const char *condition = held->follows ? " (mean)" : "";
    char rate[128];

    if (limited && !held->follows)
        condition = ", the most that it reached,";

    if (isnan(held->cost)) {
        say(stream, "The load was not held: no request was answered while counting.");
        return;
    }

    say(stream,
        "At %.1f %% load%s the service answers %s requests per second; median %s, 95 %% %s, 99 %% "
        "%s; a request uses %s of CPU time.",
        100 * (limited ? held->load_mean : held->target_mean), condition, rate_of(rate, result),
        request_show_time(ss_histogram_quantile(times, 0.5)).text,
        request_show_time(ss_histogram_quantile(times, 0.95)).text,
        request_show_time(ss_histogram_quantile(times, 0.99)).text,
        request_show_time(held->cost).text);

    report_scope(stream, held);
    report_doubts(stream, held);
}

static void report_lateness(FILE *stream, const struct request_result *result) {
    const struct request_tally *tally = result->tally;
    bool closed = result->rules.clients > 0;
    double p99 = ss_histogram_quantile(&tally->lateness, 0.99);
    bool waited = !closed && tally->unfinished_max >= result->rules.cap &&
                  result->rules.when_full == REQUEST_DELAY;
    const char *due = closed ? "their client's last answer" : "when they were due";
    const char *why = "none had to wait at the cap, so the generator itself was late";

    if (waited)
        why = "they waited at the limit of unfinished requests (--cap)";
    else if (closed)
        why = "the generator itself was late";

    if (tally->lateness.count == 0)
        return;

    struct request_text max = request_show_time(ss_time_seconds(tally->lateness.max));
    if (tally->lateness.max == 0)
        say(stream, "Requests were sent on time: none was late.");
    else if (p99 <= REQUEST_LATE_SECONDS)
        say(stream, "Requests were sent on time: 99 %% within %s of %s, the latest after %s.",
            request_show_time(p99).text, due, max.text);
    else
        say(stream, "Requests were sent late: 99 %% within %s of %s, the latest after %s; %s.",
            request_show_time(p99).text, due, max.text, why);
}

static void report_unsent(FILE *stream, const struct request_result *result) {
    const struct request_tally *tally = result->tally;

    if (tally->refused)
        say(stream,
            "%s of the requests (%s) were dropped at the cap of %s. Response times do not include "
            "them.",
            request_show_share(tally->refused, tally->intended).text,
            request_show_count(tally->refused).text, request_show_count(result->rules.cap).text);
    if (tally->waiting + tally->unfinished)
        say(stream, "At the end, %s request%s had not been sent and %s had no answer yet.",
            request_show_count(tally->waiting).text, plural(tally->waiting),
            request_show_count(tally->unfinished).text);
}

/* Describes when requests failed: "from 2.97 s to 4.98 s". */
static const char *when_failed(char text[96], const struct request_result *result) {
    const struct request_tally *tally = result->tally;
    double first = ss_time_seconds(ss_time_since(tally->first_failure, result->counted_from));
    double last = ss_time_seconds(ss_time_since(tally->last_failure, result->counted_from));

    if (first < last)
        snprintf(
            text, 96, "from %s to %s", request_show_time(first).text, request_show_time(last).text);
    else
        snprintf(text, 96, "at %s", request_show_time(first).text);
    return text;
}

static void report_failures(FILE *stream, const struct request_result *result) {
    const struct request_tally *tally = result->tally;
    uint64_t failed = request_tally_failed(tally);
    struct cause causes[CAUSES_MAX];
    char list[512] = "", when[96];
    size_t count = list_causes(causes, tally), used = 0;

    for (size_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(
            list + used, sizeof list - used, "%s%s", i ? ", " : "", causes[i].text);

    if (tally->sent == 0)
        say(stream, "No request was sent.");
    else if (failed)
        say(stream, "%s of the requests sent failed, %s: %s.",
            request_show_share(failed, tally->sent).text, when_failed(when, result), list);
    else if (!tally->unfinished)
        say(stream, "No request failed.");

    if (tally->outcomes[REQUEST_RESOURCES])
        say(stream, "The generator ran out of descriptors, ports or memory: such failures say "
                    "nothing about the service. " SAVE_RESOURCES);
}

/* Reports coordinated omission, and whether response times of successes alone are misleading. */
static void report_times(FILE *stream, const struct request_result *result) {
    const struct request_tally *tally = result->tally;
    double intended = ss_histogram_quantile(&tally->successes[REQUEST_INTENDED], 0.99);
    double actual = ss_histogram_quantile(&tally->successes[REQUEST_ACTUAL], 0.99);
    double all = ss_histogram_quantile(&tally->all[REQUEST_INTENDED], 0.99);

    if (intended > REMARKABLE_RATIO * actual && intended - actual > REQUEST_LATE_SECONDS)
        say(stream,
            "99 %% of the successes were answered within %s of being sent, but within %s of being "
            "due: only the second figure includes the wait before sending.",
            request_show_time(actual).text, request_show_time(intended).text);

    if (all > REMARKABLE_RATIO * intended)
        say(stream,
            "Successes alone look better than all requests: 99 %% of the successes took at most "
            "%s, 99 %% of all requests %s.",
            request_show_time(intended).text, request_show_time(all).text);
}

/* Describes the generator: "used 44 % of a CPU and waited for one for 54 % of the time". */
static const char *describe_generator(char text[128], double used, double waited) {
    if (waited >= 0.005)
        snprintf(text, 128, "used %.0f %% of a CPU and waited for one for %.0f %% of the time",
            100 * used, 100 * waited);
    else
        snprintf(text, 128, "used %.0f %% of a CPU", 100 * used);
    return text;
}

/*
 * Reports which side limited the rate: the generator if it was running, or waiting for a CPU,
 * nearly all the time; otherwise the service.
 */
static void report_limit(FILE *stream, const struct request_result *result) {
    double used = result->own_cpu_seconds / ss_time_seconds(result->took);
    double waited = result->own_wait_seconds / ss_time_seconds(result->took);
    double busy = request_generator_utilization(result);
    bool saturated = request_is_saturated(result);
    char did[128];

    describe_generator(did, used, waited);
    if (request_generator_is_limit(result))
        say(stream, "The generator was the limit, not the service: it %s. " RELIEVE_GENERATOR, did);
    else if (busy > REQUEST_BUSY_MAX)
        say(stream,
            "The generator %s: it cannot reach a higher rate, and if the service shares its CPU, "
            "the generator slowed the service down.",
            did);
    else if (waited > STARVED_FRACTION)
        say(stream,
            "The generator %s: response times include that wait. Give it a CPU of its own "
            "(--own-cpu).",
            did);

    bool full = result->tally->unfinished_max >= result->rules.cap;
    if (busy <= REQUEST_BUSY_MAX && saturated && (result->rules.clients > 0 || full))
        say(stream,
            "The service was the limit: the generator waited for it for %.0f %% of the time.",
            100 * (1 - busy));
}

static void print_row(FILE *stream, const char *name, const char *const cells[4]) {
    fprintf(stream, "%-18s", name);
    for (int i = 0; i < 4; i++)
        fprintf(stream, i == 2 ? "    %13s" : " %13s", cells[i]);
    fputc('\n', stream);
}

static void print_times(FILE *stream, const struct request_tally *tally) {
    static const struct {
        const char *name;
        double share;
    } rows[] = {{"mean", -1}, {"50 %", 0.5}, {"90 %", 0.9}, {"95 %", 0.95}, {"99 %", 0.99},
        {"99.9 %", 0.999}, {"longest", 1}};
    const struct ss_histogram *times[] = {&tally->successes[REQUEST_INTENDED],
        &tally->successes[REQUEST_ACTUAL], &tally->all[REQUEST_INTENDED],
        &tally->all[REQUEST_ACTUAL]};

    fprintf(stream, "%-18s%28s%31s\n", "response time", "successes", "all");
    print_row(
        stream, "  from", (const char *const[]){"when due", "when sent", "when due", "when sent"});

    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct request_text shown[4];
        for (int i = 0; i < 4; i++)
            shown[i] = request_show_time(rows[row].share < 0
                                             ? ss_histogram_mean(times[i])
                                             : ss_histogram_quantile(times[i], rows[row].share));
        print_row(stream, rows[row].name,
            (const char *const[]){shown[0].text, shown[1].text, shown[2].text, shown[3].text});
    }

    struct request_text counts[4];
    for (int i = 0; i < 4; i++)
        counts[i] = request_show_count(times[i]->count);
    print_row(stream, "requests",
        (const char *const[]){counts[0].text, counts[1].text, counts[2].text, counts[3].text});
}

static void print_figure(FILE *stream, const char *name, const char *value, const char *what) {
    fprintf(stream, "%-18s %13s  %s\n", name, value, what);
}

/* Prints due and sent requests as sums of their outcomes. */
static void print_sums(FILE *stream, const struct request_tally *tally) {
    fprintf(stream, "due      %s = %s sent + %s dropped + %s waiting\n",
        request_show_count(tally->intended).text, request_show_count(tally->sent).text,
        request_show_count(tally->refused).text, request_show_count(tally->waiting).text);
    fprintf(stream, "sent     %s = %s succeeded + %s failed + %s unfinished\n",
        request_show_count(tally->sent).text,
        request_show_count(tally->outcomes[REQUEST_SUCCESS]).text,
        request_show_count(request_tally_failed(tally)).text,
        request_show_count(tally->unfinished).text);

    struct cause causes[CAUSES_MAX];
    size_t count = list_causes(causes, tally);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "failed   %s\n", causes[i].text);
}

static void print_figures(FILE *stream, const struct request_result *result) {
    const struct request_tally *tally = result->tally;
    char what[64];

    snprintf(what, sizeof what, "per second, successes in %s",
        request_show_time(ss_time_seconds(result->took)).text);
    print_figure(stream, "throughput", request_show_number(request_throughput(result)).text, what);
    print_figure(stream, "success ratio",
        request_show_share(tally->outcomes[REQUEST_SUCCESS], tally->intended).text,
        "of all requests due");
    print_figure(stream, "lateness", request_show_time(ss_histogram_mean(&tally->lateness)).text,
        "of sending, mean of all requests sent");

    snprintf(
        what, sizeof what, "at a time, of at most %s", request_show_count(result->rules.cap).text);
    print_figure(stream, "most unfinished", request_show_count(tally->unfinished_max).text, what);
    print_figure(stream, "bytes", request_show_count(tally->bytes).text, "of answers");

    if (!isnan(result->own_cpu_seconds))
        print_figure(stream, "own CPU time", request_show_time(result->own_cpu_seconds).text,
            "of the generator");
    if (!isnan(result->own_wait_seconds))
        print_figure(stream, "own CPU wait", request_show_time(result->own_wait_seconds).text,
            "of the generator: ready, but without a CPU");
    if (!isnan(result->connections))
        print_figure(stream, "connections", request_show_count((uint64_t)result->connections).text,
            "opened");
}

static void print_held(FILE *stream, const struct request_held_load *held) {
    char value[32], what[80];
    if (isnan(held->load_mean))
        return;

    snprintf(value, sizeof value, "%.2f %%", 100 * held->load_mean);
    snprintf(
        what, sizeof what, "of %g CPUs, mean; target %.2f %%", held->cpus, 100 * held->target_mean);
    print_figure(stream, "load", value, what);

    snprintf(value, sizeof value, "%.3f", held->error_mse_e4);
    print_figure(stream, "mean squared error", value, "%^2, in windows of 500 ms");

    print_figure(
        stream, "settled", request_show_time(held->settled_seconds).text, "after control began");
}

static void print_machine(FILE *stream, const struct request_machine *machine) {
    char value[32], what[80];

    if (!isnan(machine->active)) {
        snprintf(value, sizeof value, "%.1f %%", 100 * machine->active);
        snprintf(what, sizeof what, "of the CPUs, on average; none for %.1f %% of the time",
            100 * machine->idle);
        print_figure(stream, "busy", value, what);
    }

    if (machine->speed != 1) {
        snprintf(value, sizeof value, "%.4g", machine->speed);
        snprintf(what, sizeof what, "of each server");
        if (!isnan(machine->contention[0]))
            snprintf(what, sizeof what, "of each server; contention a = %.4g, b = %.4g",
                machine->contention[0], machine->contention[1]);
        print_figure(stream, "speed", value, what);
    }

    if (isnan(machine->watts))
        return;
    snprintf(value, sizeof value, "%.1f W", machine->watts);
    snprintf(what, sizeof what, "on average; %.4g J for each success", machine->joules_per_success);
    print_figure(stream, "power", value, isnan(machine->joules_per_success) ? "on average" : what);
}

/* Describes how many trials agree: "5 of 5 trials". */
static const char *agreement(char text[48], unsigned agreed, const struct request_trials *all) {
    snprintf(text, 48, "%u of %u trial%s", agreed, all->held + all->failed,
        plural(all->held + all->failed));
    return text;
}

/* Describes a search whose upper end is the generator's limit, not the service's. */
static void report_lower_bound(FILE *stream, const struct request_result *result,
    const struct request_capacity_result *found) {
    const struct request_trials *upper = &found->failed;
    bool resources = upper->short_of_resources > 0;
    char held[48], failed[48], known[200] = "unknown: ";

    agreement(held, found->held.held, &found->held);
    agreement(failed, upper->failed, upper);
    if (found->held.rate > 0 && !found->upper_bound)
        snprintf(known, sizeof known,
            "above %s requests per second: %s held there. This is a lower bound: ",
            request_show_number(found->held.rate).text, held);

    say(stream, "The capacity for %s is %s%s failed at %s, but in %u of them %s", result->criterion,
        known, failed, request_show_number(upper->rate).text,
        resources ? upper->short_of_resources : upper->limited,
        resources
            ? "the generator ran out of descriptors, ports or memory, which says nothing about the "
              "service. " SAVE_RESOURCES
            : "the generator was the limit, not the service. " RELIEVE_GENERATOR);
}

static const char *why_unsure(
    const struct request_capacity *search, const struct request_capacity_result *found) {
    if (found->upper_bound)
        return "trials were too short";
    if (found->lower_bound)
        return "the generator limited the rate";
    if (found->agreed)
        return "trials at the same rate differ, so the interval is wide; longer ones differ less: "
               "raise --duration";
    if (search->trial_count < REQUEST_TRIALS_MAX)
        return "the search was stopped, or found only one bound";
    return "trials at the same rate still differ after 100 trials";
}

static void report_capacity(FILE *stream, const struct request_result *result) {
    const struct request_capacity_result found = request_capacity_result(result->capacity);
    const char *criterion = result->criterion;
    char held[48], failed[48];

    agreement(held, found.held.held, &found.held);
    agreement(failed, found.failed.failed, &found.failed);

    if (found.lower_bound)
        report_lower_bound(stream, result, &found);
    else if (found.upper_bound && found.failed.rate > 0)
        say(stream,
            "The capacity for %s is below %s requests per second: %s failed there. This is an "
            "upper bound: %s held at %s, but in %u of them response times had not become "
            "stationary when the trial ended. Longer trials may fail there: raise --duration.",
            criterion, request_show_number(found.failed.rate).text, failed, held,
            request_show_number(found.held.rate).text, found.held.unsteady);
    else if (found.held.rate > 0 && found.failed.rate > 0)
        say(stream,
            "The capacity for %s is between %s and %s requests per second: %s held at %s, and %s "
            "failed at %s.",
            criterion, request_show_number(found.held.rate).text,
            request_show_number(found.failed.rate).text, held,
            request_show_number(found.held.rate).text, failed,
            request_show_number(found.failed.rate).text);
    else if (found.held.rate > 0)
        say(stream, "The capacity for %s is above %s requests per second: %s held there.",
            criterion, request_show_number(found.held.rate).text, held);
    else if (found.failed.rate > 0)
        say(stream, "The capacity for %s is below %s requests per second: %s failed there.",
            criterion, request_show_number(found.failed.rate).text, failed);

    if (!found.sure)
        say(stream, "This is uncertain: %s.", why_unsure(result->capacity, &found));
}

static void print_verdict(FILE *stream, const struct request_result *result) {
    struct ss_verdict verdict = request_verdict(result);
    char text[SS_VERDICT_LINE_SIZE];
    ss_verdict_describe(text, &verdict);
    fputc('\n', stream);
    say(stream, "verdict: %s", text);
}

void request_summary_print(FILE *stream, const struct request_result *result) {
    if (result->capacity) {
        report_capacity(stream, result);
        return;
    }

    if (result->rules.clients > 0)
        report_closed(stream, result);
    else if (result->held)
        report_held(stream, result);
    else
        report_rate(stream, result);

    report_failures(stream, result);
    report_unsent(stream, result);
    report_lateness(stream, result);
    report_times(stream, result);
    if (!isnan(result->own_cpu_seconds))
        report_limit(stream, result);

    fputc('\n', stream);
    print_times(stream, result->tally);
    fputc('\n', stream);
    print_sums(stream, result->tally);
    fputc('\n', stream);
    print_figures(stream, result);
    if (result->held)
        print_held(stream, result->held);
    if (result->machine)
        print_machine(stream, result->machine);

    print_verdict(stream, result);
}
