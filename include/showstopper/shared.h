/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SHARED_H
#define SHOWSTOPPER_SHARED_H

/*
 * Memory shared by executors, any of which may be killed at any instruction: no process waits for
 * another, and the next write replaces whatever a dead process left unfinished.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <showstopper/time.h>

/* Maximum size of a snapshot in a notice, in words of 64 bits. */
#define SS_NOTICE_WORDS  24
#define SS_NOTICE_COPIES 4

struct ss_notice_copy {
    _Atomic uint64_t ticket; /* ticket of the writer; 0 while the copy is being written */
    _Atomic uint64_t check;  /* checksum of ticket and words: detects a delayed writer that
                                overwrites a copy after another writer has reused it */
    _Atomic uint64_t words[SS_NOTICE_WORDS];
};

/*
 * One snapshot of a few words, which any process may read and write. All zero: empty. Each writer
 * fills a copy of its own, chosen by its ticket, and then makes it the latest, so a writer that
 * dies halfway leaves the previous copy valid.
 */
struct ss_notice {
    _Atomic uint64_t tickets; /* number of tickets drawn so far */
    _Atomic uint64_t latest;  /* ticket of the latest copy; 0 if empty */
    struct ss_notice_copy copies[SS_NOTICE_COPIES];
};

static inline uint64_t ss_notice_check(uint64_t ticket, const uint64_t *words, int count) {
    uint64_t check = ticket;
    for (int i = 0; i < count; i++)
        check = (check ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    return check;
}

/* Publishes a snapshot of `count` words: an array, or a struct with only such members. */
static inline void ss_notice_publish(struct ss_notice *notice, const void *snapshot, int count) {
    uint64_t words[SS_NOTICE_WORDS];
    memcpy(words, snapshot, (size_t)count * sizeof *words);

    uint64_t ticket = atomic_fetch_add(&notice->tickets, 1) + 1;
    struct ss_notice_copy *copy = &notice->copies[ticket % SS_NOTICE_COPIES];
    atomic_store(&copy->ticket, 0);
    for (int i = 0; i < count; i++)
        atomic_store_explicit(&copy->words[i], words[i], memory_order_relaxed);
    atomic_store(&copy->check, ss_notice_check(ticket, words, count));
    atomic_store(&copy->ticket, ticket);

    uint64_t latest = atomic_load(&notice->latest);
    while (latest < ticket && !atomic_compare_exchange_weak(&notice->latest, &latest, ticket)) {
    }
}

/*
 * Copies the latest snapshot, which was published with `count` words. Returns false if nothing was
 * published, or if writers overtook every attempt; the caller then keeps its previous snapshot.
 */
static inline bool ss_notice_read(const struct ss_notice *notice, void *snapshot, int count) {
    uint64_t words[SS_NOTICE_WORDS];
    for (int attempt = 0; attempt < 3; attempt++) {
        uint64_t latest = atomic_load(&notice->latest);
        if (latest == 0)
            return false;

        const struct ss_notice_copy *copy = &notice->copies[latest % SS_NOTICE_COPIES];
        if (atomic_load(&copy->ticket) != latest)
            continue;

        /* Acquire orders the second read of the ticket after every word. */
        for (int i = 0; i < count; i++)
            words[i] = atomic_load_explicit(&copy->words[i], memory_order_acquire);
        uint64_t check = atomic_load_explicit(&copy->check, memory_order_acquire);
        if (atomic_load(&copy->ticket) == latest &&
            check == ss_notice_check(latest, words, count)) {
            memcpy(snapshot, words, (size_t)count * sizeof *words);
            return true;
        }
    }
    return false;
}

/*
 * The right to do a task that only one executor has to do. It expires, because its holder may be
 * dead. If the holder was only late, the task is done twice, which must be harmless.
 */
typedef _Atomic uint64_t ss_claim;

static inline bool ss_claim_take(ss_claim *claim, ss_time now, ss_time expires_after) {
    uint64_t taken = atomic_load(claim);
    if (taken != 0 && ss_time_since(now, taken) < expires_after)
        return false;
    return atomic_compare_exchange_strong(claim, &taken, now | 1);
}

static inline void ss_claim_release(ss_claim *claim) {
    atomic_store(claim, 0);
}

/* Doubles are shared as bit patterns in atomic words. */
static inline uint64_t ss_word_from_double(double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static inline double ss_double_from_word(uint64_t word) {
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

#endif
