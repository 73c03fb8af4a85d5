/* SPDX-License-Identifier: Apache-2.0 */
#include "command/running.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/openmetrics.h"
#include "base/units.h"
#include "base/wallclock.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "loop/board.h"
#include "platform/platform.h"

enum { STARTING, WARMING_UP, CONTROLLED, PAUSED, ENDING };

static const char *const state_names[] = {
    [STARTING] = "starting",
    [WARMING_UP] = "warming up",
    [CONTROLLED] = "controlled",
    [PAUSED] = "paused",
    [ENDING] = "ending",
};

static const char *state_of(const struct ss_board *board, ss_time now) {
    switch ((enum ss_phase)atomic_load(&board->phase)) {
    case SS_PHASE_STARTING:
        return state_names[STARTING];
    case SS_PHASE_PAUSED:
        return state_names[PAUSED];
    case SS_PHASE_ENDING:
        return state_names[ENDING];
    default:
        return state_names[now < atomic_load(&board->control_start) ? WARMING_UP : CONTROLLED];
    }
}

/* Returns the time under control up to `now`, without pauses. */
static ss_time controlled_time(const struct ss_board *board, ss_time now) {
    ss_time paused = atomic_load(&board->paused_since);
    return ss_board_trace_time(board, paused && paused < now ? paused : now);
}

/* The pids of running masters, truncated to the size of the list. */
struct masters {
    char list[128];
    bool more;
};

static void add_master(void *context, pid_t pid) {
    struct masters *masters = context;
    struct ss_error ignored = {0};
    uid_t owner;

    struct ss_board *board = ss_board_attach(pid, &owner, &ignored);
    if (!board)
        return;

    ss_board_close(board);
    size_t used = strlen(masters->list);
    char item[16];
    int length = snprintf(item, sizeof item, "%s%d", used ? ", " : "", (int)pid);
    masters->more |= used + (size_t)length >= sizeof masters->list;
    if (!masters->more)
        memcpy(masters->list + used, item, (size_t)length + 1);
}

/* Fails with the reason; the message ends with the pids of running masters. */
static int refuse_pid(const char *option, const char *why, struct ss_error *error) {
    struct masters masters = {.list = ""};
    ss_platform_process_each(add_master, &masters);
    if (!*masters.list)
        return ss_error_fail(error, "%s: %s; no showstopper of yours is running here", option, why);
    return ss_error_fail(
        error, "%s: %s; running: %s%s", option, why, masters.list, masters.more ? ", ..." : "");
}

/*
 * Maps the board of the running master that `pid` names on the command line. On failure, the
 * message begins with `option`.
 */
static struct ss_board *attach(
    const char *option, const char *pid, uid_t *owner, struct ss_error *error) {
    uint64_t process;
    struct ss_error why = {0};
    struct ss_board *board = NULL;

    if (ss_units_count(pid, &process, NULL) < 0 || process < 1 || process > INT32_MAX)
        ss_error_fail(&why, "'%s' is not a pid", ss_words_show(pid).text);
    else
        board = ss_board_attach((pid_t)process, owner, &why);
    if (!board)
        refuse_pid(option, why.message, error);
    return board;
}

int ss_running_set_target(const struct ss_cli *cli, struct ss_error *error) {
    const char *load = cli->set_load;
    double value = NAN;
    uid_t owner;

    struct ss_board *board = attach("--set", cli->set_pid, &owner, error);
    if (!board)
        return -1;
    if (owner != geteuid()) {
        ss_board_close(board);
        return ss_error_fail(error,
            "--set: the run belongs to user %u, who could misuse your privileges: use sudo "
            "-u '#%u' showstopper --set ...",
            (unsigned)owner, (unsigned)owner);
    }
    if (strcmp(load, "trace") != 0 &&
        ss_units_load_option(load, board->load_cpus, &value, error) < 0) {
        ss_board_close(board);
        return ss_error_wrap(error, "--set: expected a load or 'trace'");
    }

    /* Store this first: executors that see the new target read when it changed. */
    ss_setpoints_put(&board->setpoints, &(struct ss_setpoint_change){ss_platform_now(), value});
    atomic_store(&board->setpoint, ss_word_from_double(value));

    /*
     * An executor that sleeps through a `free` interval would notice the change only at the
     * interval's end.
     */
    for (uint32_t i = 0; i < board->instances; i++)
        ss_platform_wake(&board->rows[i].wake);

    ss_board_close(board);
    return 0;
}

static void print_percent(FILE *stream, const char *name, double value, const char *fallback) {
    if (isnan(value))
        fprintf(stream, ", %s %s", name, fallback);
    else
        fprintf(stream, ", %s %.2f%%", name, 100 * value);
}

void ss_running_print_status(
    FILE *stream, const struct ss_board *board, ss_time now, int64_t wallclock) {
    struct ss_board_sample sample = {.target = NAN, .load = NAN, .duty = NAN};
    bool sampled = ss_notice_read(&board->sample, &sample, SS_BOARD_SAMPLE_WORDS);
    double setpoint = ss_double_from_word(atomic_load(&board->setpoint));
    ss_time start = atomic_load(&board->control_start);

    fprintf(stream, "showstopper %d: %s", (int)board->master, state_of(board, now));
    if (isnan(setpoint))
        print_percent(stream, "target", sample.target, sampled ? "none" : "unknown");
    else
        fprintf(stream, ", target %.2f%% (--set)", 100 * setpoint);
    print_percent(stream, "load", sample.load, "not measured yet");
    print_percent(stream, "duty", sample.duty, sampled ? "none" : "unknown");
    fprintf(stream, ", %" PRIu32 " of %" PRIu32 " instances", atomic_load(&board->alive),
        board->instances);
    if (start <= now) {
        char since[64];
        ss_wallclock_print(since, sizeof since, wallclock - (int64_t)(now - start));
        fprintf(stream, ", since %s (%.0f s)", since, ss_time_seconds(controlled_time(board, now)));
    }

    fputc('\n', stream);
}

/* clang-format off */
static const struct ss_metric
    target = {"showstopper_target_ratio", "ratio", SS_METRIC_GAUGE,
        "Current target"},
    load = {"showstopper_load_ratio", "ratio", SS_METRIC_GAUGE,
        "Load of the latest sample"},
    duty = {"showstopper_duty_ratio", "ratio", SS_METRIC_GAUGE,
        "Fraction of the time in which instances may run"},
    instances = {"showstopper_instances", NULL, SS_METRIC_GAUGE,
        "Instances that were started or will be"},
    alive = {"showstopper_alive_instances", NULL, SS_METRIC_GAUGE,
        "Instances under control"},
    controlled = {"showstopper_controlled_seconds", "seconds", SS_METRIC_GAUGE,
        "Time since the start of control"},
    states = {"showstopper_state", NULL, SS_METRIC_GAUGE,
        "1 for the state of the run, 0 for the others"},
    instance_duty = {"showstopper_instance_duty_ratio", "ratio", SS_METRIC_GAUGE,
        "Fraction of the time in which this instance may run"},
    instance_alive = {"showstopper_instance_alive", NULL, SS_METRIC_GAUGE,
        "Whether this instance is under control"},
    instance_switches = {"showstopper_instance_switches", NULL, SS_METRIC_COUNTER,
        "Stops and continues of this instance"};
/* clang-format on */

static double is_alive(const struct ss_row *row) {
    return atomic_load(&row->life) == SS_LIFE_ALIVE;
}

static double duty_of(const struct ss_row *row) {
    bool decided = is_alive(row) && atomic_load(&row->publications) > 0;
    return decided ? ss_double_from_word(atomic_load(&row->local_duty)) : NAN;
}

static double switches_of(const struct ss_row *row) {
    return (double)atomic_load(&row->switches);
}

static void put_instances(struct ss_metrics *metrics, const struct ss_metric *metric,
    const struct ss_board *board, const char *pid, double (*value)(const struct ss_row *row)) {
    char index[16];
    for (uint32_t i = 0; i < board->instances; i++) {
        snprintf(index, sizeof index, "%" PRIu32, i);
        const char *labels[] = {"pid", pid, "index", index, NULL};
        ss_metrics_put(metrics, metric, labels, value(&board->rows[i]));
    }
}

static void put_states(
    struct ss_metrics *metrics, const struct ss_board *board, const char *pid, ss_time now) {
    const char *state = state_of(board, now);
    for (size_t i = 0; i < sizeof state_names / sizeof *state_names; i++) {
        const char *labels[] = {"pid", pid, "state", state_names[i], NULL};
        ss_metrics_put(metrics, &states, labels, strcmp(state, state_names[i]) == 0);
    }
}

void ss_running_print_metrics(FILE *stream, const struct ss_board *board, ss_time now) {
    struct ss_metrics metrics = {.stream = stream};
    struct ss_board_sample sample = {.target = NAN, .load = NAN, .duty = NAN};
    double setpoint = ss_double_from_word(atomic_load(&board->setpoint));
    ss_time start = atomic_load(&board->control_start);
    char pid[16];

    snprintf(pid, sizeof pid, "%d", (int)board->master);
    const char *labels[] = {"pid", pid, NULL};
    ss_notice_read(&board->sample, &sample, SS_BOARD_SAMPLE_WORDS);
    ss_metrics_put(&metrics, &target, labels, isnan(setpoint) ? sample.target : setpoint);
    ss_metrics_put(&metrics, &load, labels, sample.load);
    ss_metrics_put(&metrics, &duty, labels, sample.duty);
    ss_metrics_put(&metrics, &instances, labels, board->instances);
    ss_metrics_put(&metrics, &alive, labels, atomic_load(&board->alive));
    ss_metrics_put(&metrics, &controlled, labels,
        start <= now ? ss_time_seconds(controlled_time(board, now)) : NAN);
    put_states(&metrics, board, pid, now);
    put_instances(&metrics, &instance_alive, board, pid, is_alive);
    put_instances(&metrics, &instance_duty, board, pid, duty_of);
    put_instances(&metrics, &instance_switches, board, pid, switches_of);
    ss_metrics_end(&metrics);
}

static int write_metrics(
    FILE *stream, const char *path, const struct ss_board *board, struct ss_error *error) {
    struct ss_whole_file file;
    if (strcmp(path, "-") == 0) {
        ss_running_print_metrics(stream, board, ss_platform_now());
        return 0;
    }
    if (ss_whole_file_check(path, error) < 0 || ss_whole_file_begin(&file, path, error) < 0)
        return ss_error_wrap(error, "--openmetrics");
    ss_running_print_metrics(file.stream, board, ss_platform_now());
    return ss_whole_file_end(&file, path, error) < 0 ? ss_error_wrap(error, "--openmetrics") : 0;
}

int ss_running_show_status(FILE *stream, const struct ss_cli *cli, struct ss_error *error) {
    uid_t owner;
    struct ss_board *board = attach("--status", cli->status_pid, &owner, error);
    if (!board)
        return -1;
    int result = 0;
    if (cli->metrics)
        result = write_metrics(stream, cli->metrics, board, error);
    else
        ss_running_print_status(stream, board, ss_platform_now(), ss_platform_wallclock());
    ss_board_close(board);
    return result;
}
