/* SPDX-License-Identifier: Apache-2.0 */
#include "tenants.h"

/* How many threads a stop does not reach at once, and until when they go on. */
static uint32_t count_late(const struct trial *trial, uint32_t number, ss_time *until) {
    ss_time length = trial->options.stop_lateness;
    uint32_t width = trial->machine.instances[number].width;
    *until = SS_TIME_NEVER;
    if (length == 0 || width < 2)
        return 0;
    *until = trial->now + length - (trial->now - trial->start) % length;
    return width - 1;
}

void tenants_set_running(struct trial *trial, uint32_t number, bool running) {
    struct demand *demand = &trial->lives[number].demand;
    uint32_t sleeper = tenants_demand_sleeper(trial, number);
    ss_time due = trial->queue.due[sleeper];
    if (running) {
        machine_set_running(&trial->machine, number, true, trial->now);
        due = ss_time_add(trial->now, demand->left);
    } else {
        demand->left = due == SS_TIME_NEVER ? due : due - trial->now;
        uint32_t late = count_late(trial, number, &due);
        machine_stop(&trial->machine, number, late, trial->now);
    }
    queue_set(&trial->queue, sleeper, due);
}

void tenants_change_demand(struct trial *trial, uint32_t number) {
    struct demand *demand = &trial->lives[number].demand;
    ss_time due = SS_TIME_NEVER;
    if (trial->machine.instances[number].running) {
        demand_next(demand);
        machine_set_width(&trial->machine, number, demand->threads, trial->now);
        due = ss_time_add(trial->now, demand->left);
    } else {
        machine_stop(&trial->machine, number, 0, trial->now);
    }
    queue_set(&trial->queue, tenants_demand_sleeper(trial, number), due);
}

void tenants_set_background(struct trial *trial, double background) {
    machine_set_background(&trial->machine, background, trial->now);
    if (trial->options.background_period > 0)
        queue_set(&trial->queue, tenants_background_sleeper(trial),
            trial->now + trial->options.background_period / 2);
}

void tenants_switch_background(struct trial *trial) {
    tenants_set_background(trial, trial->machine.background > 0 ? 0 : trial->options.background);
}
