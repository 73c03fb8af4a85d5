/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Idle time to the microsecond: the time that CPUs have spent in idle states, as counted by
 * cpuidle. It counts a stay in a state when the stay ends, so the count of an idle CPU lags.
 * /proc/stat does not lag, but counts in clock ticks. A combined counter for each CPU uses both.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

static int open_state(const struct ss_platform_roots *roots, uint32_t cpu, uint32_t state) {
    struct ss_linux_path path = ss_linux_path(
        "%s/devices/system/cpu/cpu%u/cpuidle/state%u/time", ss_linux_sys(roots), cpu, state);
    return open(path.text, O_RDONLY | O_CLOEXEC);
}

static void close_states(struct ss_residencies *residencies) {
    while (residencies->count > 0)
        ss_owned_close(&residencies->states[--residencies->count].file);
}

/* Opens the files of all states of one CPU. Returns NULL, or why they cannot be opened. */
static const char *add_cpu(
    struct ss_residencies *residencies, const struct ss_platform_roots *roots, uint32_t cpu) {
    int file = -1;
    for (uint32_t state = 0; (file = open_state(roots, cpu, state)) >= 0; state++) {
        if (residencies->count == SS_RESIDENCIES_MAX) {
            close(file);
            return "with this many CPUs, idle time from /proc/stat is precise enough";
        }
        residencies->states[residencies->count++] = (struct ss_residency){.cpu = cpu, .file = file};
    }

    if (residencies->count > 0 && residencies->states[residencies->count - 1].cpu == cpu)
        return errno == ENOENT ? NULL : strerror(errno);
    return errno == ENOENT ? "cpuidle does not count idle time" : strerror(errno);
}

const char *ss_linux_residency_open(
    struct ss_counter_reader *reader, const struct ss_platform_roots *roots) {
    struct ss_residencies *residencies = &reader->residencies;
    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX; cpu++) {
        const char *why = ss_cpus_has(&reader->cpus, cpu) ? add_cpu(residencies, roots, cpu) : NULL;
        if (why) {
            close_states(residencies);
            return why;
        }
    }

    void *memory = mmap(NULL, residencies->count * sizeof *residencies->counters,
        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        const char *why = strerror(errno);
        close_states(residencies);
        return why;
    }
    residencies->counters = memory;
    return NULL;
}

/*
 * Opens the files again in a child. All processes share the combined counters, which stay mapped.
 */
void ss_linux_residency_reopen(struct ss_residencies *residencies) {
    for (uint32_t i = 0; i < residencies->count; i++) {
        struct ss_residency *state = &residencies->states[i];
        int file = open(ss_linux_path("/proc/self/fd/%d", state->file).text, O_RDONLY | O_CLOEXEC);
        close(state->file);
        state->file = file;
    }
}

static void unmap(struct ss_residencies *residencies) {
    if (residencies->counters && !residencies->borrowed)
        munmap(residencies->counters, residencies->count * sizeof *residencies->counters);
    residencies->counters = NULL;
}

void ss_linux_residency_close(struct ss_residencies *residencies) {
    unmap(residencies);
    close_states(residencies);
}

void ss_platform_counters_share(
    struct ss_counter_reader *reader, const struct ss_counter_reader *other) {
    struct ss_residencies *residencies = &reader->residencies;
    if (!other->residencies.counters || residencies->count != other->residencies.count)
        return;
    unmap(residencies);
    residencies->counters = other->residencies.counters;
    residencies->borrowed = true;
}

void ss_linux_residency_read(struct ss_residencies *residencies) {
    int cpu = sched_getcpu();
    for (uint32_t i = 0; i < residencies->count; i++) {
        struct ss_residency *state = &residencies->states[i];
        char text[32];
        uint64_t microseconds;
        ssize_t length = pread(state->file, text, sizeof text - 1, 0);
        state->known = length > 0;
        text[length > 0 ? length : 0] = '\0';
        ss_linux_read_number(text, &microseconds);
        state->time = microseconds * SS_MICROSECOND;
    }
    residencies->current_cpu = cpu == sched_getcpu() ? cpu : -1;
}

uint64_t ss_linux_residency_refine(
    struct ss_residencies *residencies, const struct ss_cpu_times *times, uint64_t tick) {
    struct ss_combined_reading reading = {
        .coarse = times->idle + times->iowait,
        .step = 2 * tick, /* idle and iowait are each rounded down to ticks */
        .fine_is_current = (int)times->cpu == residencies->current_cpu,
    };

    struct ss_combined_counter *counter = NULL;
    bool known = true;
    for (uint32_t i = 0; i < residencies->count; i++) {
        const struct ss_residency *state = &residencies->states[i];
        if (state->cpu != times->cpu)
            continue;
        if (!counter)
            counter = &residencies->counters[i];
        known &= state->known;
        reading.fine += state->time;
    }

    return counter && known ? ss_combined_counter_read(counter, &reading) : reading.coarse;
}
