/* SPDX-License-Identifier: Apache-2.0 */
#include "request_loop.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/end_signals.h"
#include "platform/platform.h"
#include "wait.h"

#define EVENTS_MAX 64

struct ssrequest_loop {
    int poll, timer, signals;
    ss_time armed; /* time of the timer, since the start of the run; 0 if expired or not set */
    struct request_generator *generator;
    struct ssrequest_http *http;
    const struct ssrequest_hooks *hooks;
    struct ssrequest_loop_stats *stats;
    ss_time begin;           /* start of the run on the monotonic clock */
    ss_time period_end;      /* end of the current period, since `begin` */
    ss_time period;          /* a second, unless the caller sets another period */
    ss_time step;            /* when to call `hooks->step` */
    ss_time excluded_used;   /* CPU time of this process that is excluded from its total */
    ss_time excluded_waited; /* excluded time without a CPU; SS_TIME_NEVER if unknown */
    ss_time paused_used, paused_waited; /* both totals when counting was last paused */
};

int ssrequest_loop_signal_descriptor(const struct ssrequest_loop *loop) {
    return loop->signals;
}

ss_time ssrequest_loop_now(const struct ssrequest_loop *loop) {
    return ss_time_since(ss_platform_now(), loop->begin);
}

void ssrequest_loop_resume_usage(struct ssrequest_loop *loop) {
    ss_time used = ss_platform_process_cpu_time(getpid()), waited = ss_platform_own_wait();
    bool known = waited != SS_TIME_NEVER && loop->paused_waited != SS_TIME_NEVER;
    loop->excluded_used += ss_time_since(used, loop->paused_used);
    loop->excluded_waited =
        known ? loop->excluded_waited + ss_time_since(waited, loop->paused_waited) : SS_TIME_NEVER;
}

void ssrequest_loop_pause_usage(struct ssrequest_loop *loop) {
    loop->paused_used = ss_platform_process_cpu_time(getpid());
    loop->paused_waited = ss_platform_own_wait();
}

static void on_ended(void *context, struct request_in_flight *one, enum request_outcome outcome,
    uint64_t bytes, ss_time now) {
    struct ssrequest_loop *loop = context;
    request_generator_finish_request(loop->generator, one, outcome, bytes, now);
}

void ssrequest_loop_stop(struct ssrequest_loop *loop) {
    ss_time now = ssrequest_loop_now(loop);
    if (loop->stats->stopped != SS_TIME_NEVER)
        return;

    loop->stats->stopped = now;
    request_generator_stop(loop->generator, now);
}

static void on_signal(struct ssrequest_loop *loop) {
    struct signalfd_siginfo info;
    if (read(loop->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;

    if (loop->stats->stopped == SS_TIME_NEVER) {
        ssrequest_loop_stop(loop);
        return;
    }
    ssrequest_http_abandon(loop->http);
    request_generator_abandon(loop->generator, ssrequest_loop_now(loop));
}

/* Handles everything that is due: responses before requests, because each makes room for one. */
static void advance(struct ssrequest_loop *loop) {
    /* End periods first, so that later events count in the right one. */
    for (; loop->period_end <= ssrequest_loop_now(loop); loop->period_end += loop->period) {
        if (loop->hooks && loop->hooks->period_end)
            loop->hooks->period_end(loop->hooks->context, loop->period_end);
    }

    ssrequest_http_advance(loop->http, ssrequest_loop_now(loop));
    if (loop->hooks && loop->hooks->step)
        loop->step = loop->hooks->step(loop->hooks->context, ssrequest_loop_now(loop));
    request_generator_advance(loop->generator, ssrequest_loop_now(loop));
}

/*
 * Sets the timer. Setting an expired timer makes it unreadable, so it never has to be read. Leaves
 * a timer that expires earlier: timeouts move with each response, and each move would cost a system
 * call.
 */
static void arm(struct ssrequest_loop *loop, ss_time moment) {
    if (loop->armed > 0 && loop->armed <= moment)
        return;
    loop->armed = moment;

    ss_time at = ss_time_add(loop->begin, moment);
    struct itimerspec setting = {0};
    if (moment != SS_TIME_NEVER) {
        setting.it_value.tv_sec = (time_t)(at / SS_SECOND);
        setting.it_value.tv_nsec = (long)(at % SS_SECOND);
    }
    timerfd_settime(loop->timer, TFD_TIMER_ABSTIME, &setting, NULL);
}

static int wait_for_events(struct ssrequest_loop *loop, struct epoll_event *events) {
    ss_time next = ssrequest_earlier(loop->period_end, request_generator_deadline(loop->generator));
    next = ssrequest_earlier(next, ssrequest_http_deadline(loop->http));
    next = ssrequest_earlier(next, loop->step);

    bool due = next <= ssrequest_loop_now(loop);
    if (!due)
        arm(loop, next);
    return epoll_wait(loop->poll, events, EVENTS_MAX, due ? 0 : -1);
}

static void take_event(struct ssrequest_loop *loop, const struct epoll_event *event) {
    if (ssrequest_http_handle_event(loop->http, event->data.u64, event->events))
        return;

    int descriptor = (int)event->data.u64;
    if (descriptor == loop->timer)
        loop->armed = 0;
    else if (descriptor == loop->signals)
        on_signal(loop);
    else if (loop->hooks && descriptor == loop->hooks->descriptor)
        loop->hooks->ready(loop->hooks->context);
}

/*
 * Handles events until the run is over. Sends due requests after each event, because handling all
 * events of an epoll_wait() may take longer than the gap between requests.
 */
static void handle_events(struct ssrequest_loop *loop) {
    struct epoll_event events[EVENTS_MAX];
    while (!request_generator_is_over(loop->generator)) {
        int count = wait_for_events(loop, events);
        for (int i = 0; i < count; i++) {
            take_event(loop, &events[i]);
            advance(loop);
        }
        if (count <= 0)
            advance(loop);
    }
}

static int watch(struct ssrequest_loop *loop, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)descriptor};
    return epoll_ctl(loop->poll, EPOLL_CTL_ADD, descriptor, &event);
}

int ssrequest_loop_run(struct ssrequest_loop *loop, struct request_generator *generator,
    struct ssrequest_http *http, const struct ssrequest_hooks *hooks,
    struct ssrequest_loop_stats *stats) {
    ssrequest_loop_pause_usage(loop);
    loop->excluded_used = loop->paused_used;
    loop->excluded_waited = loop->paused_waited;

    *stats = (struct ssrequest_loop_stats){
        .stopped = SS_TIME_NEVER, .clock = ss_platform_clock_offsets()};

    loop->generator = generator;
    loop->http = http;
    loop->hooks = hooks;
    loop->stats = stats;
    loop->period = hooks && hooks->period > 0 ? hooks->period : SS_SECOND;
    loop->period_end = loop->period;
    loop->step = SS_TIME_NEVER;
    loop->armed = 0; /* the previous run may have set it */

    if (hooks && hooks->descriptor >= 0 && watch(loop, hooks->descriptor) < 0)
        return -errno;

    loop->begin = ss_platform_now();
    stats->begin = ss_platform_wallclock();
    if (hooks && hooks->begin)
        hooks->begin(hooks->context, stats->begin);
    ssrequest_http_begin(http, loop->begin, on_ended, loop);

    advance(loop);
    handle_events(loop);

    stats->length = request_generator_end_time(generator);
    stats->end = stats->begin + (int64_t)stats->length;
    stats->connections = ssrequest_http_connections(http);
    stats->own_cpu = ss_time_seconds(ss_platform_process_cpu_time(getpid()) - loop->excluded_used);
    struct ss_clock_offsets now = ss_platform_clock_offsets();
    stats->clock_set_by = ss_clock_set_by(&stats->clock, &now);
    stats->suspended = now.boot - stats->clock.boot;

    /* The wait is also unknown if no descriptor is left to read it. */
    ss_time own_wait = ss_platform_own_wait();
    bool known = loop->excluded_waited != SS_TIME_NEVER && own_wait != SS_TIME_NEVER;
    stats->own_wait = known ? ss_time_seconds(ss_time_since(own_wait, loop->excluded_waited)) : NAN;
    return 0;
}

static int open_all(struct ssrequest_loop *loop) {
    sigset_t set;
    ss_end_signals(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN); /* servers, and readers of the output, may close their end */

    loop->poll = epoll_create1(EPOLL_CLOEXEC);
    loop->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    loop->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);

    if (loop->poll < 0 || loop->timer < 0 || loop->signals < 0)
        return -1;
    return watch(loop, loop->timer) < 0 ? -1 : watch(loop, loop->signals);
}

int ssrequest_loop_open(struct ssrequest_loop **loop, struct ss_error *error) {
    *loop = calloc(1, sizeof **loop);
    if (!*loop)
        return ss_error_memory(error);
    (*loop)->poll = (*loop)->timer = (*loop)->signals = -1;

    if (open_all(*loop) == 0)
        return 0;
    ss_error_fail(error, "cannot create epoll, timerfd or signalfd: %s", strerror(errno));
    ssrequest_loop_close(*loop);
    *loop = NULL;
    return -1;
}

void ssrequest_loop_close(struct ssrequest_loop *loop) {
    if (!loop)
        return;
    const int files[] = {loop->signals, loop->timer, loop->poll};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i] >= 0)
            close(files[i]);
    }
    free(loop);
}

int ssrequest_loop_epoll(const struct ssrequest_loop *loop) {
    return loop->poll;
}
