/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/setpoints.h"

#include <showstopper/shared.h>

void ss_setpoints_put(struct ss_setpoints *setpoints, const struct ss_setpoint_change *change) {
    uint64_t number = atomic_fetch_add(&setpoints->changes, 1) + 1;
    struct ss_setpoint_slot *slot = &setpoints->slots[number % SS_SETPOINTS_SLOTS];
    atomic_store(&slot->number, 0);
    atomic_store(&slot->time, change->time);
    atomic_store(&slot->load, ss_word_from_double(change->load));
    atomic_store(&slot->number, number);
}

static bool is_finished(const struct ss_setpoints *setpoints, uint64_t number) {
    return atomic_load(&setpoints->slots[number % SS_SETPOINTS_SLOTS].number) == number;
}

ss_time ss_setpoints_last(const struct ss_setpoints *setpoints) {
    uint64_t changes = atomic_load(&setpoints->changes);
    for (uint64_t back = 0; back < changes && back < SS_SETPOINTS_SLOTS; back++) {
        const struct ss_setpoint_slot *slot =
            &setpoints->slots[(changes - back) % SS_SETPOINTS_SLOTS];
        if (is_finished(setpoints, changes - back))
            return atomic_load(&slot->time);
    }
    return 0;
}

/* Skips the changes that their writers have not finished in time. */
static void skip_unfinished(
    const struct ss_setpoints *setpoints, struct ss_setpoints_reader *reader, ss_time now) {
    while (reader->seen < atomic_load(&setpoints->changes) &&
           !is_finished(setpoints, reader->seen + 1)) {
        if (reader->unfinished != reader->seen + 1) {
            reader->unfinished = reader->seen + 1;
            reader->since = now;
        }
        if (now != SS_TIME_NEVER && ss_time_since(now, reader->since) < SS_SETPOINTS_PATIENCE)
            return;
        reader->lost++;
        reader->seen++;
    }
}

bool ss_setpoints_take(const struct ss_setpoints *setpoints, struct ss_setpoints_reader *reader,
    ss_time now, struct ss_setpoint_change *change) {
    uint64_t waiting = atomic_load(&setpoints->changes) - reader->seen;

    if (waiting > SS_SETPOINTS_SLOTS) { /* newer changes have overwritten the rest */
        reader->lost += waiting - SS_SETPOINTS_SLOTS;
        reader->seen += waiting - SS_SETPOINTS_SLOTS;
    }

    skip_unfinished(setpoints, reader, now);
    uint64_t next = reader->seen + 1;
    const struct ss_setpoint_slot *slot = &setpoints->slots[next % SS_SETPOINTS_SLOTS];
    if (!is_finished(setpoints, next))
        return false;

    change->time = atomic_load(&slot->time);
    change->load = ss_double_from_word(atomic_load(&slot->load));

    /* It was overwritten while it was read; the next call skips it. */
    if (!is_finished(setpoints, next))
        return false;

    reader->seen = next;
    return true;
}

uint64_t ss_setpoints_missed(
    const struct ss_setpoints *setpoints, const struct ss_setpoints_reader *reader) {
    return reader->lost + (atomic_load(&setpoints->changes) - reader->seen);
}
