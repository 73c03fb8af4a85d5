/* SPDX-License-Identifier: Apache-2.0 */
#include "codes.h"

/* Returns bit `index` of the sequence s[n] = s[n-6] xor s[n-5], which begins with 000001. */
static bool sequence(uint32_t index) {
    uint32_t bits = 1; /* the next bit to read is bit 5 */
    for (uint32_t i = 0; i < index; i++)
        bits = (bits << 1 & 0x3f) | ((bits >> 5 ^ bits >> 4) & 1);
    return bits >> 5 & 1;
}

size_t codes_count(const struct codes *codes) {
    return codes->suspects + CODES_GHOSTS;
}

bool codes_low(const struct codes *codes, size_t code, size_t slot) {
    uint32_t place = (uint32_t)(slot % CODES_LENGTH);
    bool bit = sequence((codes->start + codes->shifts[code] + place) % CODES_LENGTH);
    return slot < CODES_LENGTH ? bit : !bit;
}
