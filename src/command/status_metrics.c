/* SPDX-License-Identifier: Apache-2.0 */
#include "command/status_metrics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/openmetrics.h"
#include "command/running.h"
#include "loop/board.h"

/* clang-format off */
static const struct ss_metric
    target = {"showstopper_target_ratio", "ratio", SS_METRIC_GAUGE,
        "Target in force"},
    load = {"showstopper_load_ratio", "ratio", SS_METRIC_GAUGE,
        "Load of the latest sample"},
    duty = {"showstopper_duty_ratio", "ratio", SS_METRIC_GAUGE,
        "Part of the time in which instances may run"},
    instances = {"showstopper_instances", NULL, SS_METRIC_GAUGE,
        "Instances that were started or will be"},
    alive = {"showstopper_alive_instances", NULL, SS_METRIC_GAUGE,
        "Instances under control"},
    controlled = {"showstopper_controlled_seconds", "seconds", SS_METRIC_GAUGE,
        "Time since the start of control"},
    states = {"showstopper_state", NULL, SS_METRIC_GAUGE,
        "1 for the state of the run, 0 for the others"},
    instance_duty = {"showstopper_instance_duty_ratio", "ratio", SS_METRIC_GAUGE,
        "Part of the time in which this instance may run"},
    instance_alive = {"showstopper_instance_alive", NULL, SS_METRIC_GAUGE,
        "Whether this instance is under control"},
    instance_switches = {"showstopper_instance_switches", NULL, SS_METRIC_COUNTER,
        "Stops and continues of this instance"};
/* clang-format on */

static double is_alive(const struct ss_row *row) {
    return atomic_load(&row->life) == SS_LIFE_ALIVE;
}

static double duty_of(const struct ss_row *row) {
    bool decided = is_alive(row) && atomic_load(&row->published) > 0;
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
    const char *state = ss_running_state(board, now);
    for (size_t i = 0; ss_running_states[i]; i++) {
        const char *labels[] = {"pid", pid, "state", ss_running_states[i], NULL};
        ss_metrics_put(metrics, &states, labels, strcmp(state, ss_running_states[i]) == 0);
    }
}

void ss_status_print_metrics(FILE *stream, const struct ss_board *board, ss_time now) {
    struct ss_metrics metrics = {.stream = stream};
    struct ss_board_sample sample = {.target = NAN, .load = NAN, .duty = NAN};
    double setpoint = ss_double_from_word(atomic_load(&board->setpoint));
    ss_time start = atomic_load(&board->control_start);
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)board->master);
    const char *labels[] = {"pid", pid, NULL};
    ss_board_read_sample(board, &sample);
    ss_metrics_put(&metrics, &target, labels, isnan(setpoint) ? sample.target : setpoint);
    ss_metrics_put(&metrics, &load, labels, sample.load);
    ss_metrics_put(&metrics, &duty, labels, sample.duty);
    ss_metrics_put(&metrics, &instances, labels, board->instances);
    ss_metrics_put(&metrics, &alive, labels, atomic_load(&board->alive));
    ss_metrics_put(&metrics, &controlled, labels,
        start <= now ? ss_time_seconds(ss_running_controlled(board, now)) : NAN);
    put_states(&metrics, board, pid, now);
    put_instances(&metrics, &instance_alive, board, pid, is_alive);
    put_instances(&metrics, &instance_duty, board, pid, duty_of);
    put_instances(&metrics, &instance_switches, board, pid, switches_of);
    ss_metrics_end(&metrics);
}
