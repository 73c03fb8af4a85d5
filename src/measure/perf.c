/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/perf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

const char *const ss_perf_names[SS_PERF_EVENTS] = {
    [SS_PERF_INSTRUCTIONS] = "instructions",
    [SS_PERF_CYCLES] = "cycles",
    [SS_PERF_STALLED_FRONTEND] = "stalled_frontend",
    [SS_PERF_STALLED_BACKEND] = "stalled_backend",
    [SS_PERF_L1D_REFERENCES] = "l1d_references",
    [SS_PERF_L1D_MISSES] = "l1d_misses",
    [SS_PERF_CACHE_REFERENCES] = "cache_references",
    [SS_PERF_CACHE_MISSES] = "cache_misses",
    [SS_PERF_PAGE_FAULTS] = "page_faults",
    [SS_PERF_CONTEXT_SWITCHES] = "context_switches",
    [SS_PERF_MIGRATIONS] = "migrations",
    [SS_PERF_TASK_CLOCK] = "task_clock_seconds",
    [SS_PERF_L2_REFERENCES] = "l2_references",
    [SS_PERF_L2_MISSES] = "l2_misses",
};

/*
 * Opens an event. Counts only in user mode if counting in the kernel is not permitted, except for
 * events that only the kernel causes: their count would wrongly be 0.
 */
static int open_event(struct ss_perf_meter *meter, struct ss_perf_request *request) {
    const struct ss_perf_calls *calls = meter->calls;
    bool of_kernel =
        request->event == SS_PERF_CONTEXT_SWITCHES || request->event == SS_PERF_MIGRATIONS;
    int descriptor = calls->open(calls->context, request);
    if ((descriptor != -EACCES && descriptor != -EPERM) || of_kernel)
        return descriptor;
    request->user_only = true;
    return calls->open(calls->context, request);
}

int ss_perf_add(struct ss_perf_meter *meter, pid_t thread, bool after_exec) {
    bool full = false;

    if (!SS_GROW(meter->sources, meter->count + SS_PERF_EVENTS, meter->room))
        return -1;

    for (int event = 0; event < SS_PERF_EVENTS; event++) {
        struct ss_perf_request request = {
            .event = event, .thread = thread, .after_exec = after_exec};
        int descriptor = open_event(meter, &request);
        full |= descriptor == -EMFILE || descriptor == -ENFILE;
        if (descriptor < 0 && (descriptor != -ESRCH || !meter->err[event]))
            meter->err[event] = descriptor;
        if (descriptor < 0)
            continue;
        meter->has[event] = true;
        /* The task clock in user mode still includes the kernel's time. */
        meter->user_only[event] |= request.user_only && event != SS_PERF_TASK_CLOCK;
        meter->sources[meter->count++] =
            (struct ss_perf_source){.event = event, .descriptor = descriptor};
    }

    meter->uncounted += full;
    return 0;
}

/*
 * Returns the number of events since the previous reading; NaN if unknown, and the next call then
 * counts from the same reading.
 */
static double read_source(struct ss_perf_meter *meter, struct ss_perf_source *source) {
    struct ss_perf_count now;
    const struct ss_perf_count *last = &source->last;

    if (meter->calls->read(meter->calls->context, source->descriptor, &now) < 0)
        return NAN;
    if (now.value < last->value || now.enabled < last->enabled || now.running < last->running)
        return NAN;

    double value = (double)(now.value - last->value);
    double enabled = (double)(now.enabled - last->enabled);
    double running = (double)(now.running - last->running);
    if (enabled > 0 && running <= 0)
        return NAN;

    source->last = now;
    return running < enabled ? value * (enabled / running) : value;
}

void ss_perf_read(struct ss_perf_meter *meter, double counts[SS_PERF_EVENTS]) {
    for (int event = 0; event < SS_PERF_EVENTS; event++)
        counts[event] = NAN;
    for (size_t i = 0; i < meter->count; i++) {
        double count = read_source(meter, &meter->sources[i]);
        double *sum = &counts[meter->sources[i].event];
        if (!isnan(count))
            *sum = isnan(*sum) ? count : *sum + count;
    }
}

static const char *explain_errno(int err) {
    switch (-err) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
    case EINVAL:
        return "this machine does not count them";
    case EACCES:
    case EPERM:
        return "not permitted: see kernel.perf_event_paranoid";
    case ENOSYS:
        return "the kernel does not support perf events";
    case EMFILE:
    case ENFILE:
        return "too many open files: raise the limit (ulimit -n)";
    default:
        return strerror(-err);
    }
}

static const char user_only[] = "only events in user mode are counted: see "
                                "kernel.perf_event_paranoid";

/* Returns why the event is not fully counted, or NULL if it is. */
static const char *reason_of(const struct ss_perf_meter *meter, int event) {
    if (!meter->has[event])
        return explain_errno(meter->err[event]);
    return meter->user_only[event] ? user_only : NULL;
}

static bool is_repeated(const struct ss_perf_meter *meter, int before, const char *reason) {
    for (int event = 0; event < before; event++) {
        const char *other = reason_of(meter, event);
        if (other && strcmp(other, reason) == 0)
            return true;
    }
    return false;
}

bool ss_perf_explain(const struct ss_perf_meter *meter, int *at, char *buffer, size_t size) {
    for (; *at < SS_PERF_EVENTS; ++*at) {
        const char *reason = reason_of(meter, *at);
        if (!reason || is_repeated(meter, *at, reason))
            continue;

        size_t used = 0;
        for (int event = *at; event < SS_PERF_EVENTS; event++) {
            const char *other = reason_of(meter, event);
            if (other && strcmp(other, reason) == 0 && used < size)
                used += (size_t)snprintf(
                    buffer + used, size - used, "%s%s", used ? ", " : "", ss_perf_names[event]);
        }

        if (used < size)
            snprintf(buffer + used, size - used, ": %s", reason);
        ++*at;
        return true;
    }
    return false;
}

void ss_perf_close(struct ss_perf_meter *meter) {
    for (size_t i = 0; i < meter->count; i++)
        meter->calls->close(meter->calls->context, meter->sources[i].descriptor);
    free(meter->sources);
    *meter = (struct ss_perf_meter){0};
}
