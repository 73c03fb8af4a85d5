/* SPDX-License-Identifier: Apache-2.0 */
#include "codes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "base/walk.h"
#include "base/words.h"
#include <showstopper/random.h>

/* A trace lasts this much longer than the run, so that no suspect is released early. */
#define SPARE_SECONDS 10

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

bool codes_is_throttled(const struct codes *codes, size_t code, size_t slot) {
    uint32_t place = (uint32_t)(slot % CODES_LENGTH);
    bool bit = sequence((codes->start + codes->shifts[code] + place) % CODES_LENGTH);
    return slot < CODES_LENGTH ? bit : !bit;
}

void codes_draw(const struct codes *codes, size_t code, size_t slot, bool *stopped) {
    bool is_throttled = codes_is_throttled(codes, code, slot),
         in_all_rows = codes->blocks == codes->rows;
    uint64_t seed = (uint64_t)codes->start * CODES_LENGTH + codes->shifts[code];

    size_t left = codes->blocks, row = 1;
    for (size_t i = 0; i < codes->rows; i++)
        stopped[i] = is_throttled && in_all_rows;
    if (!is_throttled || in_all_rows)
        return;

    /* Take each candidate with the probability that makes all choices of rows equally likely. */
    for (size_t candidates = codes->rows - codes->blocks; candidates > 0; candidates--, row++) {
        double random = ss_random(seed, slot * codes->rows + candidates);
        if (random * (double)candidates < (double)left) {
            stopped[row++] = true;
            left--;
        }
    }
}

int codes_check_rows(const struct codes *codes, struct ss_error *error) {
    if (codes->blocks == codes->rows || 2 * codes->blocks <= codes->rows)
        return 0;
    return ss_error_fail(error, "--blocks: use %zu (all rows), or at most %zu (half of them)",
        codes->rows, codes->rows / 2);
}

/* Parses a place in the sequence. Returns the rest of the text, or NULL if it is invalid. */
static const char *parse_place(const char *text, uint32_t *place) {
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    *place = (uint32_t)number;
    return *text >= '0' && *text <= '9' && number < CODES_LENGTH ? end : NULL;
}

int codes_parse(struct codes *codes, const char *text, struct ss_error *error) {
    size_t count = 0;
    const char *at = parse_place(text, &codes->start);
    if (at && *at != ':')
        at = NULL;

    while (at && *at && count < CODES_MAX) {
        at = parse_place(at + 1, &codes->shifts[count++]);
        if (at && *at && *at != ',')
            at = NULL;
    }

    if (!at || *at || count <= CODES_GHOSTS)
        return ss_error_fail(error,
            "--shifts: use START:SHIFT,... with the shifts of 1 to %d suspects and of %d ghosts, "
            "each from 0 to %d",
            CODES_SUSPECTS_MAX, CODES_GHOSTS, CODES_LENGTH - 1);

    codes->suspects = count - CODES_GHOSTS;
    return 0;
}

/* Creates a file in a folder. Returns NULL with the error set. */
static FILE *create(const char *folder, const char *name, struct ss_error *error) {
    SS_OWNED(free) char *path = ss_words_format(error, "%s/%s", folder, name);
    if (!path)
        return NULL;
    struct ss_error why = {0};
    FILE *file = ss_walk_state_stream(path, &why); /* `plan` trusts it later */
    if (!file)
        ss_error_fail(error, "cannot write %s: %s", path, why.message);
    return file;
}

static int finish(FILE *file, const char *folder, const char *name, struct ss_error *error) {
    if (fflush(file) == 0)
        return 0;
    return ss_error_fail(error, "cannot write %s/%s: %s", folder, name, strerror(errno));
}

/* Writes a trace. Two points at the same time form a step. */
static void write_trace(
    FILE *file, const struct codes *codes, size_t suspect, double slot, double depth) {
    bool stopped[CODES_ROWS_MAX];
    double row = slot / (double)codes->rows, block = depth * slot / (double)codes->blocks;

    fputs("0s 1\n", file);

    for (size_t i = 0; i < codes->slots; i++) {
        codes_draw(codes, suspect, i, stopped);
        for (size_t j = 0; j < codes->rows; j++) {
            double end = (double)i * slot + (double)(j + 1) * row, begin = end - block;
            if (stopped[j])
                fprintf(file, "%.9gs 1\n%.9gs 0\n%.9gs 0\n%.9gs 1\n", begin, begin, end, end);
        }
    }

    fprintf(file, "%.9gs 1\n", (double)codes->slots * slot + SPARE_SECONDS);
}

static int write_table(const struct codes *codes, const char *folder, struct ss_error *error) {
    static bool stopped[CODES_MAX][CODES_ROWS_MAX];
    SS_OWNED(fclose) FILE *file = create(folder, "codes.csv", error);
    if (!file)
        return -1;

    fputs("row,slot", file);
    for (size_t code = 0; code < codes_count(codes); code++)
        fprintf(file, code < codes->suspects ? ",s%zu" : ",ghost%zu",
            code < codes->suspects ? code + 1 : code - codes->suspects + 1);
    fputc('\n', file);

    for (size_t slot = 0; slot < codes->slots; slot++) {
        for (size_t code = 0; code < codes_count(codes); code++)
            codes_draw(codes, code, slot, stopped[code]);
        for (size_t row = 0; row < codes->rows; row++) {
            fprintf(file, "%zu,%zu", slot * codes->rows + row, slot);
            for (size_t code = 0; code < codes_count(codes); code++)
                fprintf(file, ",%d", stopped[code][row]);
            fputc('\n', file);
        }
    }

    return finish(file, folder, "codes.csv", error);
}

int codes_write(const struct codes *codes, const char *folder, double slot, double depth,
    struct ss_error *error) {
    for (size_t suspect = 0; suspect < codes->suspects; suspect++) {
        char name[32];
        snprintf(name, sizeof name, "s%zu.trace", suspect + 1);
        SS_OWNED(fclose) FILE *file = create(folder, name, error);
        if (!file)
            return -1;
        write_trace(file, codes, suspect, slot, depth);
        if (finish(file, folder, name, error) < 0)
            return -1;
    }
    return write_table(codes, folder, error);
}
