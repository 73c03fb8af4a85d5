/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_command.h"

#include <math.h>

#include "queue_options.h"
#include "result_document.h"
#include "summary.h"

static void print_help(void) {
    printf("Usage: sssim queue [OPTION]...\n"
           "Sends requests to a simulated service, as ssrequest would, and prints the\n"
           "response times and the power of the machine.\n\n"
           "Times: 20s, 107m (milliseconds), 2M (minutes), 1h. Duties: 60%%, 0.6 or 6/10.\n\n");
    ss_arguments_print_help(stdout, queue_rows);
    printf("\nExamples: how fast does a server answer if it is stopped for half of the time?\n"
           "Does it help to know which of two servers has less to do?\n"
           "  sssim queue -r 10 --arrival poisson --work 500u --duty 50%% --requests 100000\n"
           "  sssim queue -r 150 --arrival poisson --spread exponential --servers 2 \\\n"
           "      --balance least-connections -d 10M\n");
}

/* Describes the run as if it had begun at the end of --settle. */
static struct request_account make_account(const struct queue_options *options,
    const struct queue_run_options *run, const struct queue_run_end *end,
    const struct request_tally *tally) {
    return (struct request_account){
        .program = "sssim queue",
        .rules = run->rules,
        .profile = run->profile,
        .shape = (enum request_shape)options->given.shape,
        .rate = options->given.rate,
        .max = options->given.max,
        .step = options->given.step,
        .hold = options->given.hold,
        .trace = options->given.trace,
        .arrival = run->arrival,
        .seed = run->seed,
        .begin = NAN,
        .asked = ss_time_since(end->sending, options->settle),
        .took = ss_time_since(end->end, options->settle),
        .skipped = options->settle,
        .own_cpu_seconds = NAN,
        .own_wait_seconds = NAN,
        .connections = NAN,
        .clock_moved = NAN,
        .suspended = NAN,
        .tally = tally,
    };
}

static struct request_machine make_machine(const struct queue_options *options,
    const struct queue_run_options *run, const struct queue_run_end *end,
    const struct request_tally *tally) {
    const struct queue_meter *meter = &end->meter;
    double successes = (double)tally->outcomes[REQUEST_SUCCESS];
    double cpus = (double)queue_service_workers(&run->service);
    /* Power is averaged over the time of sending, which is empty if requests are sent at once. */
    bool has_power = run->power && meter->seconds > 0;
    return (struct request_machine){
        .active = meter->busy_seconds / meter->seconds / cpus,
        .idle = meter->idle_seconds / meter->seconds,
        .watts = has_power ? meter->joules / meter->seconds : NAN,
        .joules_per_success = has_power && successes > 0 ? meter->joules / successes : NAN,
        .speed = options->factor,
        .contention = {options->fitted.a, options->fitted.b},
    };
}

static int run(struct queue_options *options, struct ss_error *error) {
    struct queue_run_options what;
    struct queue_run_end end;
    struct request_tally tally;
    if (queue_options_resolve(options, &what, error) < 0 ||
        request_tally_open(&tally, what.timeout, error) < 0)
        return -1;
    int status = queue_run(&what, &tally, &end, error);
    struct request_account account = make_account(options, &what, &end, &tally);
    struct request_machine machine = make_machine(options, &what, &end, &tally);
    account.machine = &machine;
    if (status == 0 && options->json)
        request_document_print(stdout, &account);
    else if (status == 0)
        request_summary_print(stdout, &account);
    request_tally_close(&tally);
    return status;
}

int queue_command(char **argv, struct ss_error *error) {
    struct queue_options options;
    int status = queue_options_parse(&options, argv, error);
    if (status == 0 &&
        !ss_arguments_answer("sssim", &options.store, options.help, options.version, print_help))
        status = run(&options, error);
    queue_options_close(&options);
    return status;
}
