/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

/* Number of descriptors reserved for pidfds, pipes and files, which have no substitute. */
#define SPARE 256

#define L1D_READ(result)                                                                           \
    (PERF_COUNT_HW_CACHE_L1D | (PERF_COUNT_HW_CACHE_OP_READ << 8) | ((result) << 16))

static const struct {
    uint32_t type;
    uint64_t config;
} events[SS_PERF_EVENTS] = {
    [SS_PERF_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [SS_PERF_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [SS_PERF_STALLED_FRONTEND] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    [SS_PERF_STALLED_BACKEND] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    [SS_PERF_L1D_REFERENCES] = {PERF_TYPE_HW_CACHE, L1D_READ(PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    [SS_PERF_L1D_MISSES] = {PERF_TYPE_HW_CACHE, L1D_READ(PERF_COUNT_HW_CACHE_RESULT_MISS)},
    [SS_PERF_CACHE_REFERENCES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    [SS_PERF_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    [SS_PERF_PAGE_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    [SS_PERF_CONTEXT_SWITCHES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    [SS_PERF_MIGRATIONS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    [SS_PERF_TASK_CLOCK] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    [SS_PERF_L2_REFERENCES] = {PERF_TYPE_RAW, 0},
    [SS_PERF_L2_MISSES] = {PERF_TYPE_RAW, 0},
};

/* Returns the code of an event of this CPU; 0 if unknown. Reads the CPU's model only once. */
static uint64_t raw_config(enum ss_perf_event event) {
    static struct ss_perf_raw codes;
    static bool is_read;
    if (!is_read)
        codes = ss_platform_l2_events(NULL);
    is_read = true;
    return event == SS_PERF_L2_MISSES ? codes.misses : codes.references;
}

static int open_perf(struct perf_event_attr *event, pid_t thread) {
    event->size = sizeof *event;
    SS_OWNED(close)
    int descriptor = (int)syscall(SYS_perf_event_open, event, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (descriptor < 0)
        return -errno;
    return ss_linux_has_spare_descriptors(descriptor, SPARE) ? ss_owned_take(&descriptor) : -EMFILE;
}

/*
 * Opens an event. With `after_exec`, the event starts disabled; descendants of the thread inherit
 * this state, and exec enables their copies.
 */
static int open_event(void *context, const struct ss_perf_request *request) {
    struct perf_event_attr event = {
        .type = events[request->event].type,
        .config = events[request->event].config,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .inherit = 1,
        .disabled = request->after_exec,
        .enable_on_exec = request->after_exec,
        .exclude_kernel = request->user_only,
        .exclude_hv = request->user_only,
    };
    (void)context;

    if (event.type == PERF_TYPE_RAW) {
        event.config = raw_config(request->event);
        if (event.config == 0)
            return -ENOENT;
    }
    return open_perf(&event, request->thread);
}

/* Reads an event's count; `numbers` has the order of read_format. */
static int read_event(void *context, int descriptor, struct ss_perf_count *count) {
    uint64_t numbers[3];
    (void)context;
    ssize_t length = read(descriptor, numbers, sizeof numbers);
    if (length < 0)
        return -errno;
    if (length != (ssize_t)sizeof numbers)
        return -EIO;
    *count = (struct ss_perf_count){numbers[0], numbers[1], numbers[2]};
    return 0;
}

static void close_event(void *context, int descriptor) {
    (void)context;
    close(descriptor);
}

const struct ss_perf_calls ss_platform_perf = {
    .open = open_event,
    .read = read_event,
    .close = close_event,
};

int ss_platform_task_clock_open(pid_t thread, bool descendants) {
    struct perf_event_attr event = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .inherit = descendants,
        /* Without this, only root may open the clock. Time in the kernel is still counted. */
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return open_perf(&event, thread);
}

uint64_t ss_platform_task_clock_read(int clock) {
    uint64_t used = 0;
    return read(clock, &used, sizeof used) == (ssize_t)sizeof used ? used : 0;
}

bool ss_platform_task_clock_works(void) {
    SS_OWNED(close) int clock = ss_platform_task_clock_open(0, true);
    return clock >= 0;
}

/*
 * Returns the number of runnable threads from /proc/loadavg, which reads "0.20 0.18 0.12 1/80
 * 11206": the fourth field is RUNNABLE/ALL.
 */
long ss_platform_count_runnable(const struct ss_platform_roots *roots) {
    char text[128];
    const char *at = text;
    uint64_t runnable;
    if (ss_linux_read_text(
            ss_linux_path("%s/loadavg", ss_linux_proc(roots)).text, text, sizeof text) < 0)
        return -1;

    for (int field = 1; field < 4; field++) {
        at = strchr(at, ' ');
        if (!at)
            return -1;
        at++;
    }

    const char *end = ss_linux_read_number(at, &runnable);
    return end > at && *end == '/' ? (long)runnable : -1;
}
