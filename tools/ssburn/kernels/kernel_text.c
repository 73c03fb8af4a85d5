/* SPDX-License-Identifier: Apache-2.0 */

/* Kernels for strings, hashes and sorting. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

#define TEXT 8192

/* Fills the memory with "the quick brown fox ...", repeated, with one needle at the end. */
static bool text_open(struct kernel_data *data) {
    static const char words[] = "the quick brown fox jumps over the lazy dog ";
    char *text = data->memory;
    for (size_t i = 0; i < TEXT - 1; i++)
        text[i] = words[i % (sizeof words - 1)];
    memcpy(text + TEXT - 8, "needle!", 8);
    return true;
}

static bool string_search_round(struct kernel_data *data) {
    const char *text = data->memory;
    for (int i = 0; i < 8; i++) {
        KERNEL_OPAQUE(text);
        const char *found = strstr(text, "needle!");
        if (!found || found - text != TEXT - 8)
            return false;
    }
    return true;
}

const struct kernel kernel_string_search = {"string-search", "string",
    "searching for a word in a text", string_search_round, KERNEL_FIXED, TEXT, text_open};

static bool string_format_round(struct kernel_data *data) {
    bool right = true;
    for (int i = 0; i < 500; i++) {
        char text[64], *end;
        long long number = (long long)(kernel_random(&(uint64_t){++data->state}) >> 20);
        snprintf(text, sizeof text, "%lld|%08llx", number, number & 0xffffffff);
        right &= strtoll(text, &end, 10) == number;
        right &= strtoll(end + 1, NULL, 16) == (number & 0xffffffff);
    }
    return right;
}

const struct kernel kernel_string_format = {"string-format", "string",
    "writing numbers as text and reading them back", string_format_round};

/* Computes a CRC. A text followed by its own CRC has the same residue for all texts. */
static uint32_t crc_bytes(uint32_t crc, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (UINT32_C(0xedb88320) & (0 - (crc & 1)));
    }
    return crc;
}

static bool crc32_round(struct kernel_data *data) {
    uint8_t *bytes = data->memory;
    bytes[0] = (uint8_t)data->state++;
    uint32_t crc = ~crc_bytes(UINT32_MAX, bytes, TEXT / 2);
    uint8_t own[4] = {
        (uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16), (uint8_t)(crc >> 24)};
    uint32_t whole = crc_bytes(UINT32_MAX, bytes, TEXT / 2);
    return ~crc_bytes(whole, own, 4) == UINT32_C(0x2144df1c);
}

const struct kernel kernel_crc32 = {"crc32", "hash", "cyclic redundancy checks, bit by bit",
    crc32_round, KERNEL_FIXED, TEXT, text_open};

/* Inserts keys into a hash table with open addressing, and checks that lookups find all of them. */
static bool hash_table_round(struct kernel_data *data) {
    uint64_t *table = data->memory, seed = ++data->state, put = seed, get = seed;
    const uint64_t mask = 4095;

    memset(table, 0, 4096 * sizeof *table);

    for (int i = 0; i < 2048; i++) {
        uint64_t key = kernel_random(&put) | 1, at = key >> 40 & mask;
        while (table[at] && table[at] != key)
            at = (at + 1) & mask;
        table[at] = key;
    }

    for (int i = 0; i < 2048; i++) {
        uint64_t key = kernel_random(&get) | 1, at = key >> 40 & mask;
        while (table[at] && table[at] != key)
            at = (at + 1) & mask;
        if (!table[at])
            return false;
    }

    return true;
}

const struct kernel kernel_hash_table = {"hash-table", "hash", "filling and searching a hash table",
    hash_table_round, KERNEL_FIXED, 4096 * sizeof(uint64_t)};

#define NUMBERS 4096

static uint64_t fill_numbers(struct kernel_data *data, uint32_t *numbers) {
    uint64_t sum = 0, random = ++data->state;
    for (size_t i = 0; i < NUMBERS; i++) {
        numbers[i] = (uint32_t)(kernel_random(&random) >> 32);
        sum += numbers[i];
    }
    return sum;
}

static bool are_sorted(const uint32_t *numbers, uint64_t sum) {
    sum -= numbers[0];
    for (size_t i = 1; i < NUMBERS; i++) {
        if (numbers[i] < numbers[i - 1])
            return false;
        sum -= numbers[i];
    }
    return sum == 0;
}

static void sift_down(uint32_t *heap, size_t at, size_t count) {
    uint32_t number = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && heap[child + 1] > heap[child];
        if (heap[child] <= number)
            break;
        heap[at] = heap[child];
    }
    heap[at] = number;
}

static bool sort_heap_round(struct kernel_data *data) {
    uint32_t *heap = data->memory;
    uint64_t sum = fill_numbers(data, heap);

    for (size_t i = NUMBERS / 2; i-- > 0;)
        sift_down(heap, i, NUMBERS);

    for (size_t count = NUMBERS - 1; count > 0; count--) {
        uint32_t largest = heap[0];
        heap[0] = heap[count];
        heap[count] = largest;
        sift_down(heap, 0, count);
    }

    return are_sorted(heap, sum);
}

const struct kernel kernel_sort_heap = {"sort-heap", "sort", "sorting 4096 numbers with a heap",
    sort_heap_round, KERNEL_FIXED, NUMBERS * sizeof(uint32_t)};

#define DIGITS 256

/*
 * The counters are here, not on the stack. The address of the stack differs from run to run, and
 * with it how often the CPU mistakes a load of a counter for a load of numbers just written.
 */
struct radix {
    uint32_t numbers[2][NUMBERS];
    uint32_t starts[DIGITS + 1];
};

static bool sort_radix_round(struct kernel_data *data) {
    struct radix *radix = data->memory;
    uint32_t *from = radix->numbers[0], *to = radix->numbers[1], *starts = radix->starts;
    uint64_t sum = fill_numbers(data, from);

    for (unsigned shift = 0; shift < 32; shift += 8) {
        memset(starts, 0, sizeof radix->starts);
        for (size_t i = 0; i < NUMBERS; i++)
            starts[(from[i] >> shift & (DIGITS - 1)) + 1]++;
        for (size_t i = 0; i < DIGITS; i++)
            starts[i + 1] += starts[i];
        for (size_t i = 0; i < NUMBERS; i++)
            to[starts[from[i] >> shift & (DIGITS - 1)]++] = from[i];

        uint32_t *swapped = from;
        from = to;
        to = swapped;
    }

    return are_sorted(from, sum);
}

const struct kernel kernel_sort_radix = {"sort-radix", "sort",
    "sorting 4096 numbers by their digits", sort_radix_round, KERNEL_FIXED, sizeof(struct radix)};

static bool search_open(struct kernel_data *data) {
    uint32_t *numbers = data->memory;
    for (uint32_t i = 0; i < NUMBERS; i++)
        numbers[i] = 2 * i;
    return true;
}

/* Searches the array for random numbers. It contains only the even ones. */
static bool search_round(struct kernel_data *data) {
    const uint32_t *numbers = data->memory;
    uint64_t found = 0, wrong = 0, random = ++data->state;

    for (int i = 0; i < 4096; i++) {
        uint32_t key = (uint32_t)(kernel_random(&random) >> 32) % (2 * NUMBERS), low = 0,
                 high = NUMBERS;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (numbers[middle] < key)
                low = middle + 1;
            else
                high = middle;
        }

        bool there = low < NUMBERS && numbers[low] == key;
        found += there;
        wrong += there != (key % 2 == 0);
    }

    return wrong == 0 && found > 0;
}

const struct kernel kernel_search = {"search", "sort", "binary searches", search_round,
    KERNEL_FIXED, NUMBERS * sizeof(uint32_t), search_open};
