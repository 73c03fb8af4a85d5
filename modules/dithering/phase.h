/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MODULES_DITHERING_PHASE_H
#define SHOWSTOPPER_MODULES_DITHERING_PHASE_H

/*
 * When executors begin their first round. If all began at once and had rounds of the same
 * length, they would stay in step forever.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <showstopper/dithering.h>
#include <showstopper/random.h>

enum phase_kind {
    PHASE_HASH,
    PHASE_SEED,
    PHASE_TOGETHER,
};

/* `self->prepared` of a module with this option points to it. */
struct phase {
    enum phase_kind kind;
    uint64_t seed;
    ss_time spread;
};

/* The option `phase` for a struct config that has this field. */
#define PHASE_OPTION                                                                               \
    SS_OPTION("phase", TEXT, phase, .initial = "hash",                                             \
        .help = "when executors begin their first round; hash: spread over a round; a number: "    \
                "likewise, and different for each number; together: all at once; "                 \
                "together:SPREAD: one after another within this time; until then, an executor "    \
                "completes an earlier round")

#define PHASE_SPREAD_MAX (3600 * SS_SECOND)

/* Numbers above this are not exact as a double. */
#define PHASE_SEED_MAX 9007199254740992.0

static inline int phase_parse(const struct ss_host *host, const char *text, struct phase *phase) {
    static const char together[] = "together";
    struct ss_error ignored = {0};
    double seed;

    *phase = (struct phase){.kind = PHASE_HASH};
    if (strcmp(text, "hash") == 0)
        return 0;
    if (strncmp(text, together, sizeof together - 1) == 0) {
        const char *spread = text + sizeof together - 1;
        phase->kind = PHASE_TOGETHER;
        if (!*spread)
            return 0;
        return *spread == ':' && host->parse_time(spread + 1, &phase->spread, &ignored) == 0 &&
                       phase->spread <= PHASE_SPREAD_MAX
                   ? 0
                   : -1;
    }
    if (host->parse_number(text, &seed, &ignored) < 0 || seed < 0 || seed > PHASE_SEED_MAX ||
        seed != floor(seed))
        return -1;

    phase->kind = PHASE_SEED;
    phase->seed = (uint64_t)seed;
    return 0;
}

static inline void phase_release(struct ss_self *self) {
    free(self->prepared);
    self->prepared = NULL;
}

/* Sets `prepared`, which phase_release() frees. */
static inline int phase_prepare(struct ss_self *self, const char *text, struct ss_error *error) {
    self->prepared = malloc(sizeof(struct phase));
    if (!self->prepared)
        return ss_error_memory(error);
    if (phase_parse(self->host, text, self->prepared) == 0)
        return 0;
    phase_release(self);
    return ss_error_fail(error,
        "phase: '%s' is not a phase: use hash, a whole number, together, or together:SPREAD with "
        "at most 1h",
        text);
}

/* Returns a random seed that differs between executors and between values of the option. */
static inline uint64_t phase_random_seed(const struct ss_self *self) {
    const struct phase *phase = self->prepared;
    return ss_random_hash(ss_random_hash(phase->seed + 1) + self->executor);
}

static inline ss_time phase_offset(const struct ss_self *self, ss_time round) {
    const struct phase *phase = self->prepared;
    switch (phase->kind) {
    case PHASE_TOGETHER:
        return self->instances > 1 ? phase->spread * self->executor / (self->instances - 1) : 0;
    case PHASE_SEED:
        return ss_time_from_double((double)round * ss_random(phase->seed, self->executor));
    default:
        return ss_time_from_double((double)round * (double)ss_random_hash(self->executor) / 0x1p64);
    }
}

#endif
