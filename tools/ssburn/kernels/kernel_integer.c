/* SPDX-License-Identifier: Apache-2.0 */

/* Kernels for integers, bits, branches and calls. */

#include "kernels.h"

#define LCG_FACTOR UINT64_C(6364136223846793005)
#define LCG_ADDEND UINT64_C(1442695040888963407)
#define LCG_STEPS  100000

/* Returns the state after `steps` steps, by squaring. */
static uint64_t lcg_jump(uint64_t x, uint64_t steps) {
    uint64_t factor = 1, addend = 0, f = LCG_FACTOR, a = LCG_ADDEND;
    for (; steps > 0; steps >>= 1) {
        if (steps & 1) {
            factor *= f;
            addend = addend * f + a;
        }
        a *= f + 1;
        f *= f;
    }
    return factor * x + addend;
}

static bool int64_round(struct kernel_data *data) {
    uint64_t begin = data->state++, x = begin;
    for (int i = 0; i < LCG_STEPS; i++) {
        x = x * LCG_FACTOR + LCG_ADDEND;
        KERNEL_OPAQUE(x);
    }
    return x == lcg_jump(begin, LCG_STEPS);
}

const struct kernel kernel_int64 = {"int64", "integer",
    "64-bit multiplications and additions, each depending on the last", int64_round};

static bool gcd_round(struct kernel_data *data) {
    bool right = true;
    for (int i = 0; i < 2000; i++) {
        uint64_t common = data->state++ % 1000 + 1;

        /* Neighboring Fibonacci numbers take the most steps, and have no common divisor. */
        uint64_t a = 1836311903 * common, b = 1134903170 * common;
        while (b > 0) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        right &= a == common;
    }
    return right;
}

const struct kernel kernel_gcd = {
    "gcd", "integer", "greatest common divisors: 64-bit divisions", gcd_round};

#define SIEVE 32768

static bool sieve_round(struct kernel_data *data) {
    uint8_t *crossed = data->memory;
    unsigned primes = 0;

    for (size_t i = 0; i < SIEVE; i++)
        crossed[i] = 0;

    for (size_t i = 2; i < SIEVE; i++) {
        if (crossed[i])
            continue;
        primes++;
        for (size_t j = i * i; j < SIEVE; j += i)
            crossed[j] = 1;
    }

    return primes == 3512;
}

const struct kernel kernel_sieve = {
    "sieve", "integer", "primes below 32768 by a sieve", sieve_round, KERNEL_FIXED, SIEVE};

static unsigned count_bits(uint32_t x) {
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

static bool bits_round(struct kernel_data *data) {
    uint32_t mask = (uint32_t)data->state++ & 0xffff, sum = 0;
    for (uint32_t i = 0; i < 65536; i++) {
        sum += count_bits(i ^ mask);
        KERNEL_OPAQUE(sum);
    }
    return sum == 16 * 32768;
}

const struct kernel kernel_bits = {
    "bits", "bit", "counting the bits of words by masks", bits_round};

static bool gray_round(struct kernel_data *data) {
    uint32_t before = 0, wrong = 0;
    (void)data;
    for (uint32_t i = 1; i < 50000; i++) {
        uint32_t code = i ^ i >> 1, change = code ^ before, back = code;
        for (int shift = 16; shift > 0; shift /= 2)
            back ^= back >> shift;
        wrong |= (change & (change - 1)) | (back ^ i);
        before = code;
        KERNEL_OPAQUE(wrong);
    }
    return wrong == 0;
}

const struct kernel kernel_gray = {"gray", "bit", "conversions to Gray code and back", gray_round};

static unsigned place_queens(unsigned columns, unsigned left, unsigned right) {
    unsigned found = 0;
    if (columns == 0xff)
        return 1;
    for (unsigned free = ~(columns | left | right) & 0xff; free > 0; free &= free - 1) {
        unsigned queen = free & -free;
        found += place_queens(columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return found;
}

static bool queens_round(struct kernel_data *data) {
    unsigned none = 0;
    (void)data;
    KERNEL_OPAQUE(none);
    return place_queens(none, none, none) == 92;
}

const struct kernel kernel_queens = {
    "queens", "branch", "eight queens on a board, by backtracking", queens_round};

/* Interprets a program of five instructions that sums the numbers up to n. */
static bool interpreter_round(struct kernel_data *data) {
    enum { ADD, COUNT, TEST, JUMP, STOP };
    static const uint8_t program[] = {TEST, 5, ADD, COUNT, JUMP, STOP};
    uint64_t max = 20000 + (data->state++ & 7), sum = 0, at = max;

    for (size_t next = 0;;) {
        uint8_t instruction = program[next++];
        KERNEL_OPAQUE(sum);

        switch (instruction) {
        case ADD:
            sum += at;
            break;
        case COUNT:
            at--;
            break;
        case TEST:
            next = at == 0 ? program[next] : next + 1;
            break;
        case JUMP:
            next = 0;
            break;
        default:
            return sum == max * (max + 1) / 2;
        }
    }
}

const struct kernel kernel_interpreter = {
    "interpreter", "branch", "a loop in an interpreter: indirect jumps", interpreter_round};

__attribute__((noinline)) static unsigned ackermann(unsigned m, unsigned n) {
    KERNEL_OPAQUE(m);
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

static bool ackermann_round(struct kernel_data *data) {
    (void)data;
    return ackermann(2, 100) == 203 && ackermann(3, 4) == 125;
}

const struct kernel kernel_ackermann = {
    "ackermann", "call", "Ackermann's function: deep recursion", ackermann_round};

__attribute__((noinline)) static unsigned fibonacci(unsigned n) {
    KERNEL_OPAQUE(n);
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static bool fibonacci_round(struct kernel_data *data) {
    (void)data;
    return fibonacci(20) == 6765;
}

const struct kernel kernel_fibonacci = {
    "fibonacci", "call", "Fibonacci numbers by recursion: calls and returns", fibonacci_round};
