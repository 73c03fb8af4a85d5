/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_SHA256_H
#define SSBATCH_SHA256_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <showstopper/contract.h>

/*
 * SHA-256 (FIPS 180-4), to recognize programs and plans. Implemented here, because so little code
 * does not justify a dependency.
 */
struct ssbatch_sha256 {
    uint32_t state[8];
    uint64_t length; /* number of bytes so far */
    unsigned char block[64];
};

#define SSBATCH_SHA256_TEXT_SIZE 65 /* a digest in hexadecimal, with the final 0 */

SS_NONNULL() void ssbatch_sha256_begin(struct ssbatch_sha256 *hash);
SS_NONNULL()
SS_READS(2, 3)
void ssbatch_sha256_add(struct ssbatch_sha256 *hash, const void *bytes, size_t count);
SS_NONNULL()
void ssbatch_sha256_end(struct ssbatch_sha256 *hash, char text[SSBATCH_SHA256_TEXT_SIZE]);

/* Computes the digest of a file. Returns 0, or -1 with errno set if the file cannot be read. */
SS_MUST_USE SS_NONNULL() int ssbatch_sha256_of_file(
    const char *path, char text[SSBATCH_SHA256_TEXT_SIZE]);

#endif
