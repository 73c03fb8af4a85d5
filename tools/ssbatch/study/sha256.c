/* SPDX-License-Identifier: Apache-2.0 */
#include "sha256.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/owned.h"

/*
 * The standard derives its constants from the first primes: the first 32 bits of the fractions of
 * their square roots are the initial state, those of their cube roots the constants. A double has
 * at least 18 bits more, which suffices for these primes.
 */
static uint32_t initial[8], constants[64];

static uint32_t fraction(double root) {
    return (uint32_t)((root - floor(root)) * 4294967296.0);
}

static bool is_prime(unsigned number) {
    for (unsigned divisor = 2; divisor * divisor <= number; divisor++) {
        if (number % divisor == 0)
            return false;
    }
    return true;
}

static void derive_constants(void) {
    unsigned number = 2;
    for (int i = 0; i < 64; number++) {
        if (!is_prime(number))
            continue;
        if (i < 8)
            initial[i] = fraction(sqrt(number));
        constants[i++] = fraction(cbrt(number));
    }
}

static uint32_t rotate(uint32_t word, int bits) {
    return word >> bits | word << (32 - bits);
}

static void mix(struct ssbatch_sha256 *hash) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)hash->block[4 * i] << 24 | (uint32_t)hash->block[4 * i + 1] << 16 |
               (uint32_t)hash->block[4 * i + 2] << 8 | hash->block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] +
               (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);

    memcpy(s, hash->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t one = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                       ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
        uint32_t two = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }

    for (int i = 0; i < 8; i++)
        hash->state[i] += s[i];
}

void ssbatch_sha256_begin(struct ssbatch_sha256 *hash) {
    if (constants[0] == 0)
        derive_constants();
    memcpy(hash->state, initial, sizeof initial);
    hash->length = 0;
}

void ssbatch_sha256_add(struct ssbatch_sha256 *hash, const void *bytes, size_t count) {
    for (const unsigned char *at = bytes; count > 0;) {
        size_t used = hash->length % 64;
        size_t part = 64 - used < count ? 64 - used : count;
        memcpy(hash->block + used, at, part);
        hash->length += part;
        at += part;
        count -= part;
        if (hash->length % 64 == 0)
            mix(hash);
    }
}

void ssbatch_sha256_end(struct ssbatch_sha256 *hash, char text[SSBATCH_SHA256_TEXT_SIZE]) {
    static const unsigned char padding[64] = {0x80};
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(hash->length * 8 >> (56 - 8 * i));
    ssbatch_sha256_add(hash, padding, 1 + (119 - hash->length % 64) % 64);
    ssbatch_sha256_add(hash, length, sizeof length);
    for (int i = 0; i < 8; i++)
        snprintf(text + (size_t)8 * i, 9, "%08x", hash->state[i]);
}

int ssbatch_sha256_of_file(const char *path, char text[SSBATCH_SHA256_TEXT_SIZE]) {
    unsigned char bytes[32768];
    struct ssbatch_sha256 hash;
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    ssbatch_sha256_begin(&hash);
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, file)) > 0;)
        ssbatch_sha256_add(&hash, bytes, count);
    if (ferror(file))
        return -1;
    ssbatch_sha256_end(&hash, text);
    return 0;
}
