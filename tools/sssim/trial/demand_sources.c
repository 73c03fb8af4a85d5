/* SPDX-License-Identifier: Apache-2.0 */
#include "demand_sources.h"

/* Updates the work of an instance after its runnable threads changed. */
static void follow_work(struct trial *trial, uint32_t number) {
    work_set_threads(&trial->work, number, machine_runnable(&trial->machine, number),
        trial->lives[number].demand.use, trial->now);
}

/*
 * Returns the running time until the demand of an instance changes. It does not advance while the
 * instance is throttled.
 */
static ss_time time_left(const struct trial *trial, uint32_t number) {
    if (trial->machine.group.throttled)
        return trial->lives[number].held;
    ss_time due = trial->sleepers.due[tenants_demand_sleeper(trial, number)];
    return due == SS_TIME_NEVER ? due : due - trial->now;
}

/*
 * Returns when the sleeper of an instance must wake if the instance's demand changes after running
 * for `left`. Keeps `left` for the end of throttling.
 */
static ss_time due_after(struct trial *trial, uint32_t number, ss_time left) {
    trial->lives[number].held = left;
    return trial->machine.group.throttled ? SS_TIME_NEVER : ss_time_add(trial->now, left);
}

static ss_time continue_all(struct trial *trial, uint32_t number) {
    struct trial_instance *life = &trial->lives[number];
    struct demand *demand = &life->demand;
    demand_skip(demand, ss_time_since(trial->now, life->stopped));
    life->stopped = SS_TIME_NEVER;
    demand_resume(demand);
    machine_set_width(&trial->machine, number, demand->threads, trial->now);
    machine_set_running(&trial->machine, number, true, trial->now);
    return due_after(trial, number, demand->left);
}

/*
 * Returns the number of threads that still run after a stop, and sets `until` to the time at which
 * they stop.
 */
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
    ss_time due = trial->sleepers.due[sleeper];
    if (running) {
        due = continue_all(trial, number);
    } else {
        if (demand->left != SS_TIME_NEVER)
            demand->left = time_left(trial, number);
        trial->lives[number].stopped = trial->now;
        uint32_t late = count_late(trial, number, &due);
        machine_stop(&trial->machine, number, late, trial->now);
    }
    follow_work(trial, number);
    sleepers_set(&trial->sleepers, sleeper, due);
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
    follow_work(trial, number);
    sleepers_set(&trial->sleepers, tenants_demand_sleeper(trial, number), due);
}

void tenants_enforce_quota(struct trial *trial) {
    const struct machine *machine = &trial->machine;
    for (uint32_t i = 0; !machine->group.throttled && i < trial->options.instances; i++)
        trial->lives[i].held = time_left(trial, i);
    if (!machine_enforce_quota(&trial->machine, trial->now))
        return;
    for (uint32_t i = 0; i < trial->options.instances; i++) {
        if (machine->instances[i].running)
            sleepers_set(&trial->sleepers, tenants_demand_sleeper(trial, i),
                due_after(trial, i, trial->lives[i].held));
    }
}
