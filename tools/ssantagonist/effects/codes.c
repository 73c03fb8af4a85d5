/* SPDX-License-Identifier: Apache-2.0 */
#include "codes.h"

#include <showstopper/random.h>

/* Distance between codes: any two differ, even if one is delayed by one or two slots. */
#define SHIFT 3

#define SHIFTS (CODES_LENGTH / SHIFT)

/* Returns bit `index` of the sequence s[n] = s[n-6] xor s[n-5], which begins with 000001. */
static bool sequence(uint32_t index) {
    uint32_t bits = 1; /* the next bit to read is bit 5 */
    for (uint32_t i = 0; i < index; i++)
        bits = (bits << 1 & 0x3f) | ((bits >> 5 ^ bits >> 4) & 1);
    return bits >> 5 & 1;
}

void codes_draw(struct codes *codes, size_t suspects, bool both_halves, uint64_t seed) {
    uint64_t random = ss_random_hash(seed);
    uint32_t shifts[SHIFTS] = {0};
    *codes = (struct codes){
        .suspects = suspects,
        .slots = both_halves ? 2 * CODES_LENGTH : CODES_LENGTH,
        .start = (uint32_t)(ss_random_next(&random) * CODES_LENGTH),
    };
    for (uint32_t i = 0; i < SHIFTS; i++) {
        uint32_t other = (uint32_t)(ss_random_next(&random) * (i + 1));
        shifts[i] = shifts[other];
        shifts[other] = SHIFT * i;
    }
    for (size_t i = 0; i < codes_count(codes); i++)
        codes->shifts[i] = shifts[i];
}

size_t codes_count(const struct codes *codes) {
    return codes->suspects + CODES_GHOSTS;
}

bool codes_low(const struct codes *codes, size_t code, size_t slot) {
    uint32_t place = (uint32_t)(slot % CODES_LENGTH);
    bool bit = sequence((codes->start + codes->shifts[code] + place) % CODES_LENGTH);
    return slot < CODES_LENGTH ? bit : !bit;
}
