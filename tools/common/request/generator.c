/* SPDX-License-Identifier: Apache-2.0 */
#include "generator.h"

#include <stdlib.h>
#include <string.h>

/* Delay of a client after a failure, which must not retry in a busy loop. */
#define PAUSE_AFTER_FAILURE (10 * SS_MILLISECOND)

#define CAP_MAX 16777216

/* A waiting request takes 8 bytes. */
#define WAITING_MAX 16777216

/*
 * Maximum number of requests sent per call of request_generator_advance(). Each takes tens of
 * microseconds, and the caller must meanwhile handle answers.
 */
#define SENDS_AT_ONCE 16

#define NO_TARGET REQUEST_TARGET_NEW

/* A first-in, first-out queue in a ring buffer. */
struct queue {
    ss_time *moments;
    size_t first, count, capacity;
};

struct slot {
    struct request_in_flight one; /* first, so that both structs have the same address */
    bool used;
    uint32_t balanced;  /* target that counts this request in `unfinished_of`, or NO_TARGET */
    uint32_t next_free; /* index of the next free slot, while this one is unused */
};

struct request_generator {
    struct request_rules rules;
    struct request_schedule *schedule;
    struct request_transport transport;
    struct request_tally *tally;
    request_observer *observer;
    void *observer_context;
    struct slot *slots;
    uint32_t next_free; /* index of a free slot; the cap if none is free */
    uint64_t unfinished;
    uint64_t unfinished_of[REQUEST_TARGETS_MAX];
    uint32_t last_target;
    uint32_t first_label; /* label of the first current target */
    struct queue waiting; /* due times of requests that are due but not sent */
    struct queue ready;   /* times at which clients send again after an answer */
    struct queue pausing; /* times at which clients send again after a failure */
    uint64_t intended;
    unsigned sends; /* number of requests that request_generator_advance() may still send */
    ss_time over;   /* latest end of a request or of sending so far */
    bool stopped;
};

static bool queue_reserve(struct queue *queue) {
    if (queue->count < queue->capacity)
        return true;

    size_t capacity = queue->capacity > 0 ? 2 * queue->capacity : 64;
    ss_time *moments = malloc(capacity * sizeof *moments);
    if (!moments)
        return false;

    for (size_t i = 0; i < queue->count; i++)
        moments[i] = queue->moments[(queue->first + i) % queue->capacity];
    free(queue->moments);
    *queue = (struct queue){moments, 0, queue->count, capacity};
    return true;
}

static bool queue_add(struct queue *queue, ss_time moment) {
    if (!queue_reserve(queue))
        return false;
    queue->moments[(queue->first + queue->count) % queue->capacity] = moment;
    queue->count++;
    return true;
}

static ss_time queue_first(const struct queue *queue) {
    return queue->count > 0 ? queue->moments[queue->first] : SS_TIME_NEVER;
}

static ss_time queue_take(struct queue *queue) {
    ss_time moment = queue->moments[queue->first];
    queue->first = (queue->first + 1) % queue->capacity;
    queue->count--;
    return moment;
}

static int check_rules(const struct request_rules *rules, struct ss_error *error) {
    if (rules->cap < 1 || rules->cap > CAP_MAX)
        return ss_error_fail(error, "the cap must be between 1 and %d", CAP_MAX);
    if (rules->clients > CAP_MAX)
        return ss_error_fail(error, "too many clients (at most %d)", CAP_MAX);
    if (rules->targets < 1 || rules->targets > REQUEST_TARGETS_MAX)
        return ss_error_fail(
            error, "the number of targets must be between 1 and %d", REQUEST_TARGETS_MAX);
    return 0;
}

/* Each queue has room for all clients, so that queue_add() cannot fail. */
static bool make_clients(struct request_generator *generator) {
    uint64_t count = generator->rules.clients;
    if (count == 0)
        return true;

    generator->ready.moments = calloc(count, sizeof *generator->ready.moments);
    generator->pausing.moments = calloc(count, sizeof *generator->pausing.moments);
    if (!generator->ready.moments || !generator->pausing.moments)
        return false;

    generator->ready.capacity = generator->pausing.capacity = count;
    generator->ready.count = count; /* all clients send at 0 */
    return true;
}

static bool make_slots(struct request_generator *generator) {
    generator->slots = calloc(generator->rules.cap, sizeof *generator->slots);
    if (!generator->slots)
        return false;
    for (uint32_t i = 0; i < generator->rules.cap; i++) {
        generator->slots[i].one.slot = i;
        generator->slots[i].next_free = i + 1;
    }
    return true;
}

int request_generator_open(struct request_generator **generator, const struct request_rules *rules,
    struct request_schedule *schedule, const struct request_transport *transport,
    struct request_tally *tally, struct ss_error *error) {
    *generator = NULL;
    if (check_rules(rules, error) != 0)
        return -1;

    struct request_generator *made = calloc(1, sizeof *made);
    if (!made)
        return ss_error_memory(error);

    made->rules = *rules;
    made->schedule = schedule;
    made->transport = *transport;
    made->tally = tally;
    made->last_target = rules->targets - 1;

    if (!make_clients(made) || !make_slots(made)) {
        request_generator_close(made);
        return ss_error_memory(error);
    }

    *generator = made;
    return 0;
}

void request_generator_close(struct request_generator *generator) {
    if (!generator)
        return;
    free(generator->slots);
    free(generator->waiting.moments);
    free(generator->ready.moments);
    free(generator->pausing.moments);
    free(generator);
}

void request_generator_set_observer(
    struct request_generator *generator, request_observer *observer, void *context) {
    generator->observer = observer;
    generator->observer_context = context;
}

static void notify(const struct request_generator *generator, const struct request_in_flight *one,
    enum request_fate fate, const struct request_ended *ended) {
    if (generator->observer)
        generator->observer(generator->observer_context, one, fate, ended);
}

static bool is_full(const struct request_generator *generator) {
    return generator->unfinished == generator->rules.cap;
}

uint32_t request_balance_choose(
    enum request_balance balance, const uint64_t *unfinished, uint32_t count, uint32_t last) {
    uint32_t chosen = (last + 1) % count;
    if (balance == REQUEST_ROUND_ROBIN)
        return chosen;

    for (uint32_t i = 2; i <= count; i++) {
        uint32_t next = (last + i) % count;
        if (unfinished[next] < unfinished[chosen])
            chosen = next;
    }
    return chosen;
}

static void send_one(
    struct request_generator *generator, uint64_t number, ss_time due, ss_time now) {
    struct slot *slot = &generator->slots[generator->next_free];
    generator->next_free = slot->next_free;
    const struct request_rules *rules = &generator->rules;
    uint32_t target = rules->order
                          ? rules->order[number % rules->order_count]
                          : request_balance_choose(rules->balance, generator->unfinished_of,
                                rules->targets, generator->last_target);

    generator->last_target = target;
    generator->sends--;
    generator->unfinished++;
    generator->unfinished_of[target]++;

    slot->used = true;
    slot->balanced = target;
    slot->one.number = number;
    slot->one.due = due;
    slot->one.sent = now;
    slot->one.target = target;
    slot->one.status = 0;
    slot->one.label = generator->first_label + target;

    generator->transport.send(generator->transport.context, &slot->one);
    request_tally_send(generator->tally, due, slot->one.sent);
}

static void add_client(struct request_generator *generator, struct queue *queue, ss_time when) {
    if (generator->rules.clients > 0)
        queue_add(queue, when);
}

static void notify_unsent(struct request_generator *generator, uint64_t number, ss_time due,
    enum request_fate fate, ss_time now) {
    struct request_in_flight one = {.number = number, .due = due, .sent = SS_TIME_NEVER};
    struct request_ended ended = {.due = due, .sent = SS_TIME_NEVER, .finished = now};
    notify(generator, &one, fate, &ended);
}

static void refuse(struct request_generator *generator, uint64_t number, ss_time due, ss_time now) {
    request_tally_refuse(generator->tally);
    notify_unsent(generator, number, due, REQUEST_REFUSED, now);
    add_client(generator, &generator->pausing, ss_time_add(now, PAUSE_AFTER_FAILURE));
}

static void begin_one(struct request_generator *generator, ss_time due, ss_time now) {
    uint64_t number = generator->intended++;
    request_tally_due(generator->tally);
    if (generator->waiting.count == 0 && !is_full(generator))
        send_one(generator, number, due, now);
    else if (generator->rules.when_full == REQUEST_DROP ||
             generator->waiting.count == WAITING_MAX ||
             !queue_add(&generator->waiting, due)) /* memory is exhausted */
        refuse(generator, number, due, now);
}

static void send_waiting(struct request_generator *generator, ss_time now) {
    while (generator->waiting.count > 0 && !is_full(generator) && generator->sends > 0) {
        uint64_t number = generator->intended - generator->waiting.count;
        send_one(generator, number, queue_take(&generator->waiting), now);
    }
}

/* Returns whether more requests may become due. */
static bool has_more(const struct request_generator *generator) {
    return generator->rules.max == 0 || generator->intended < generator->rules.max;
}

static ss_time next_due(const struct request_generator *generator) {
    ss_time due;
    if (!has_more(generator))
        return SS_TIME_NEVER;

    if (generator->rules.clients > 0) {
        ss_time ready = queue_first(&generator->ready), pausing = queue_first(&generator->pausing);
        due = ready < pausing ? ready : pausing;
    } else {
        due = request_schedule_peek(generator->schedule);
    }

    return due < generator->rules.end ? due : SS_TIME_NEVER;
}

static void take_due(struct request_generator *generator, ss_time due) {
    if (generator->rules.clients == 0)
        request_schedule_next(generator->schedule, &due);
    else if (queue_first(&generator->ready) == due)
        queue_take(&generator->ready);
    else
        queue_take(&generator->pausing);
}

static bool is_due(const struct request_generator *generator, ss_time now) {
    ss_time due = next_due(generator);
    return due <= now && due != SS_TIME_NEVER;
}

void request_generator_advance(struct request_generator *generator, ss_time now) {
    if (generator->stopped)
        return;

    bool ends = now >= generator->rules.end, open = generator->rules.clients == 0;
    generator->sends = SENDS_AT_ONCE;

    if (!ends)
        send_waiting(generator, now);
    while ((!ends || open) && generator->sends > 0 && is_due(generator, now)) {
        ss_time due = next_due(generator);
        take_due(generator, due);
        begin_one(generator, due, now);
    }

    if (ends && !(open && is_due(generator, now)))
        request_generator_stop(generator, generator->rules.end);
}

ss_time request_generator_deadline(const struct request_generator *generator) {
    if (generator->stopped)
        return SS_TIME_NEVER;
    if (generator->waiting.count > 0 && !is_full(generator))
        return 0;
    ss_time due = next_due(generator);
    if (!has_more(generator) && generator->waiting.count == 0)
        return SS_TIME_NEVER;
    return due < generator->rules.end ? due : generator->rules.end;
}

static void catch_up(struct request_generator *generator, ss_time now) {
    do
        request_generator_advance(generator, now);
    while (request_generator_deadline(generator) <= now);
}

void request_generator_add(struct request_generator *generator, ss_time now) {
    if (generator->stopped || !has_more(generator) || now >= generator->rules.end)
        return;
    generator->sends = SENDS_AT_ONCE;
    begin_one(generator, now, now);
}

void request_generator_set_rate(struct request_generator *generator, ss_time now, double rate) {
    catch_up(generator, now);
    request_schedule_set_rate(generator->schedule, now, rate);
}

static uint32_t find_target(const uint32_t *before, uint32_t targets, uint32_t number) {
    for (uint32_t i = 0; i < targets; i++) {
        if (before[i] == number)
            return i;
    }
    return NO_TARGET;
}

void request_generator_retarget(
    struct request_generator *generator, const uint32_t *before, uint32_t targets) {
    for (uint32_t i = 0; i < REQUEST_TARGETS_MAX; i++)
        generator->unfinished_of[i] = 0;

    for (uint32_t i = 0; i < generator->rules.cap; i++) {
        struct slot *slot = &generator->slots[i];
        if (!slot->used || slot->balanced == NO_TARGET)
            continue;
        slot->balanced = find_target(before, targets, slot->balanced);
        if (slot->balanced != NO_TARGET)
            generator->unfinished_of[slot->balanced]++;
    }

    generator->first_label += generator->rules.targets;
    generator->rules.targets = targets;
    generator->last_target = targets - 1;
}

void request_generator_count_unfinished(
    const struct request_generator *generator, uint64_t *counts, size_t labels) {
    memset(counts, 0, labels * sizeof *counts);
    for (uint64_t i = 0; i < generator->rules.cap; i++) {
        const struct slot *slot = &generator->slots[i];
        if (slot->used && slot->one.label < labels)
            counts[slot->one.label]++;
    }
}

static void free_slot(struct request_generator *generator, struct slot *slot) {
    if (slot->balanced != NO_TARGET)
        generator->unfinished_of[slot->balanced]--;
    slot->used = false;
    slot->next_free = generator->next_free;
    generator->next_free = slot->one.slot;
    generator->unfinished--;
}

static void extend_end(struct request_generator *generator, ss_time moment) {
    generator->over = generator->over > moment ? generator->over : moment;
}

void request_generator_finish_request(struct request_generator *generator,
    struct request_in_flight *one, enum request_outcome outcome, uint64_t bytes, ss_time now) {
    struct request_ended ended = {one->due, one->sent, now, outcome, bytes, one->status};

    request_tally_end(generator->tally, &ended);
    notify(generator, one, REQUEST_ENDED, &ended);
    extend_end(generator, now);
    free_slot(generator, &generator->slots[one->slot]);

    if (outcome == REQUEST_SUCCESS)
        add_client(generator, &generator->ready, now);
    else
        add_client(generator, &generator->pausing, ss_time_add(now, PAUSE_AFTER_FAILURE));
}

bool request_generator_is_over(const struct request_generator *generator) {
    if (generator->unfinished > 0)
        return false;
    if (generator->stopped)
        return true;
    bool more = has_more(generator) &&
                (generator->rules.end != SS_TIME_NEVER || generator->rules.clients > 0);
    return !more && generator->waiting.count == 0 && next_due(generator) == SS_TIME_NEVER;
}

ss_time request_generator_end_time(const struct request_generator *generator) {
    return generator->over;
}

static void never_send(
    struct request_generator *generator, uint64_t number, ss_time due, ss_time now) {
    request_tally_abandon(generator->tally, due, SS_TIME_NEVER, now);
    notify_unsent(generator, number, due, REQUEST_NEVER_SENT, now);
}

void request_generator_stop(struct request_generator *generator, ss_time now) {
    if (generator->stopped)
        return;

    extend_end(generator, now);
    while (generator->waiting.count > 0) {
        uint64_t number = generator->intended - generator->waiting.count;
        never_send(generator, number, queue_take(&generator->waiting), now);
    }

    /* Count requests that are due but were not handled, because this call was late. */
    while (generator->rules.clients == 0 && is_due(generator, now)) {
        ss_time due = next_due(generator);
        take_due(generator, due);
        request_tally_due(generator->tally);
        never_send(generator, generator->intended++, due, now);
    }

    generator->stopped = true;
}

void request_generator_end(struct request_generator *generator, ss_time now) {
    catch_up(generator, now);
    request_generator_stop(generator, now);
}

void request_generator_abandon(struct request_generator *generator, ss_time now) {
    request_generator_stop(generator, now);
    for (uint32_t i = 0; i < generator->rules.cap; i++) {
        struct slot *slot = &generator->slots[i];
        if (!slot->used)
            continue;

        extend_end(generator, now);
        request_tally_abandon(generator->tally, slot->one.due, slot->one.sent, now);
        struct request_ended ended = {
            .due = slot->one.due, .sent = slot->one.sent, .finished = now};
        notify(generator, &slot->one, REQUEST_UNFINISHED, &ended);
        free_slot(generator, slot);
    }
}
