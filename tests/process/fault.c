/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <check.h>

/* Runs at a time: most of them only wait. */
#define AT_ONCE 4

/* The path includes a time, because our pid is unique only in our PID namespace. */
static const char *report_path(const struct fault *fault) {
    static char path[192];
    static struct timespec begin;
    if (begin.tv_sec == 0)
        clock_gettime(CLOCK_MONOTONIC, &begin);
    snprintf(path, sizeof path, "%s/showstopper-test.%d.%lld.%09ld.%s.%lu.%lu", run_temporary(),
        (int)getpid(), (long long)begin.tv_sec, begin.tv_nsec, fault->kind, fault->first,
        fault->count);
    return path;
}

struct run *fault_start(const struct fault *fault, const char *const *words) {
    const char *text = run_format(
        "SS_TEST_FAULT=%s:%lu:%lu:%s", fault->kind, fault->first, fault->count, report_path(fault));
    struct run_setup setup = {.environment = WORDS(SHIM("shim_fault"), text)};
    return run_start(&setup, words);
}

bool fault_has_struck(const struct fault *fault) {
    return unlink(report_path(fault)) == 0;
}

/* Fails unless the program wrote 1 to `max` error messages, each with a failure and its reason. */
static void expect_lines(const struct run *run, size_t max) {
    size_t count = 0;
    for (const char *line = run->err.bytes; *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        count++;
        ck_assert_msg(
            strncmp(line, "showstopper: ", 13) == 0 && line[length] == '\n' &&
                (memmem(line + 13, length - 13, ": ", 2) || strstr(line, "out of memory")),
            "a message without failure or reason: %s", run->err.bytes);
    }
    ck_assert_msg(count >= 1 && count <= max, "%zu lines: %s", count, run->err.bytes);
}

void fault_expect_refusal(struct run *run, int status, const char *part) {
    run_expect(run_wait(run), status);
    expect_lines(run, 1);
    run_expect_text(&run->err, part);
    run_free_clean(run);
}

/* A failed run may print two messages: writing its summary may fail, too. */
static void judge(struct run *run, const struct fault *fault) {
    run_wait(run);
    if (run->status == 125)
        expect_lines(run, 2);
    else
        ck_assert_msg(run->status == 0 && run->err.length == 0,
            "status %d after %lu calls for %s failed, beginning with number %lu: %s", run->status,
            fault->count, fault->kind, fault->first, run->err.bytes);
}

unsigned long fault_try_all(const char *kind, unsigned long count, const char *const *words) {
    struct fault faults[AT_ONCE];
    struct run *runs[AT_ONCE];
    for (unsigned long first = 1;; first += AT_ONCE) {
        for (unsigned long i = 0; i < AT_ONCE; i++) {
            faults[i] = (struct fault){kind, first + i, count};
            runs[i] = fault_start(&faults[i], words);
        }
        bool struck = true;
        for (unsigned long i = 0; i < AT_ONCE; i++) {
            judge(runs[i], &faults[i]);
            struck &= fault_has_struck(&faults[i]);
        }
        for (unsigned long i = 0; i < AT_ONCE; i++)
            run_free_clean(runs[i]);
        if (!struck)
            return first + AT_ONCE - 1;
    }
}
