/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_service.h"

#include <math.h>
#include <stdlib.h>

#include "chance.h"

/* Makes the work of requests independent of their arrival times, which have the same seed. */
#define WORK_SALT UINT64_C(0x776f726b)
#define RUN_SALT  UINT64_C(0x72756e)

#define NO_SLOT UINT32_MAX

struct queue_job {
    struct queue_job *next; /* next job in its queue, or among the spare ones */
    ss_time length;         /* length on a CPU of this server without interruptions */
    ss_time late;           /* length of the work after the answer */
    ss_time due;            /* when that work begins */
    uint32_t slot;          /* NO_SLOT if its client has given up, or the work is late */
};

struct queue_worker {
    struct queue_job *job; /* NULL if idle */
    ss_time left;          /* the part of the job that is left at `since` */
    ss_time since;
};

struct queue_server {
    bool runs;
    struct queue_job *head;
    struct queue_job **tail;
};

double queue_service_cpus(const struct queue_service_options *options) {
    return options->cpus > 0 ? options->cpus : (double)queue_service_workers(options);
}

/* Returns the number of workers of the server for late work. */
static uint32_t late_workers(const struct queue_service_options *options) {
    return options->late > 0 ? (uint32_t)ceil(queue_service_cpus(options)) : 0;
}

static uint32_t all_workers(const struct queue_service_options *options) {
    return (uint32_t)queue_service_workers(options) + late_workers(options);
}

uint32_t queue_service_sleepers(const struct queue_service_options *options) {
    return all_workers(options) + 1;
}

static struct queue_worker *workers_of(const struct queue_service *service, uint32_t server) {
    return &service->workers[(size_t)server * service->options.workers];
}

static uint32_t count_workers(const struct queue_service *service, uint32_t server) {
    const struct queue_service_options *options = &service->options;
    return server == options->servers ? late_workers(options) : options->workers;
}

static uint32_t server_of(const struct queue_service *service, const struct queue_worker *worker) {
    size_t server = (size_t)(worker - service->workers) / service->options.workers;
    return server < service->options.servers ? (uint32_t)server : service->options.servers;
}

/* Returns the factor of the work at a time. */
static double change_at(const struct queue_service_options *options, ss_time now) {
    if (!(options->change > 0) || now <= options->change_from)
        return 1;
    double part = (double)(now - options->change_from) / (double)options->change_over;
    return 1 + (options->change - 1) * fmin(part, 1);
}

/* Draws the factor by which run and episode multiply the work of requests. */
static void draw_factor(struct queue_service *service) {
    const struct queue_service_options *options = &service->options;
    uint64_t run = ss_random_hash(options->seed + RUN_SALT);
    uint64_t episode = ss_random_hash(run + service->episode);
    double of_episode = options->between_runs * sqrt(options->per_episode);
    double of_run = options->between_runs * sqrt(1 - options->per_episode);
    service->factor =
        chance_draw_lognormal(&run, of_run) * chance_draw_lognormal(&episode, of_episode);
}

void queue_service_renew(struct queue_service *service) {
    service->episode++;
    draw_factor(service);
}

static double draw_length(
    const struct queue_service *service, uint32_t server, uint64_t number, ss_time now) {
    const struct queue_service_options *options = &service->options;
    double length = (double)options->work * service->factor * change_at(options, now);
    if (options->spread == QUEUE_EXPONENTIAL)
        length *= ss_random_exponential(ss_random(options->seed + WORK_SALT, number));
    return options->speeds ? length / options->speeds[server] : length;
}

static struct queue_job *get_job(struct queue_service *service) {
    struct queue_job *job = service->spare;
    if (!job)
        return malloc(sizeof *job);
    service->spare = job->next;
    return job;
}

static void put_job(struct queue_service *service, struct queue_job *job) {
    job->next = service->spare;
    service->spare = job;
}

static void free_jobs(struct queue_job *job) {
    while (job) {
        struct queue_job *next = job->next;
        free(job);
        job = next;
    }
}

/* Returns whether a worker uses a CPU. */
static bool is_busy(const struct queue_service *service, const struct queue_worker *worker) {
    return worker->job && service->servers[server_of(service, worker)].runs;
}

static void set_alarm(struct queue_service *service, const struct queue_worker *worker) {
    ss_time due = SS_TIME_NEVER;
    if (is_busy(service, worker))
        due = ss_time_add(
            worker->since, ss_time_from_double(ceil((double)worker->left / service->share)));
    sleepers_set(service->sleepers, service->first + (uint32_t)(worker - service->workers), due);
}

/* Subtracts the work that a busy worker has done until now. */
static void work_until(struct queue_service *service, struct queue_worker *worker, ss_time now) {
    double done = (double)(now - worker->since) * service->share;
    worker->left = ss_time_since(worker->left, ss_time_from_double(done + 0.5));
    worker->since = now;
}

double queue_service_busy(const struct queue_service *service) {
    return service->busy * service->share + service->options.background;
}

double queue_service_used(struct queue_service *service, ss_time now) {
    service->used += queue_service_busy(service) * (double)(now - service->since);
    service->since = now;
    return service->used;
}

/* Divides the CPUs among the busy workers, after their number has changed. */
static void share_cpus(struct queue_service *service, ss_time now) {
    const struct queue_service_options *options = &service->options;
    double cpus = queue_service_cpus(options) - options->background;
    double share = service->busy > cpus ? cpus / service->busy : 1;
    if (share == service->share)
        return;

    for (uint32_t i = 0; i < all_workers(options); i++) {
        if (is_busy(service, &service->workers[i]))
            work_until(service, &service->workers[i], now);
    }

    service->share = share;
    for (uint32_t i = 0; i < all_workers(options); i++)
        set_alarm(service, &service->workers[i]);
}

static void start(struct queue_service *service, struct queue_worker *worker, struct queue_job *job,
    ss_time now) {
    queue_service_used(service, now);
    service->busy -= is_busy(service, worker);
    *worker = (struct queue_worker){.job = job, .left = job ? job->length : 0, .since = now};
    service->busy += is_busy(service, worker);
    set_alarm(service, worker);
    share_cpus(service, now);
}

static struct queue_job *take_first(struct queue_server *server) {
    struct queue_job *job = server->head;
    if (job) {
        server->head = job->next;
        if (!server->head)
            server->tail = &server->head;
    }
    return job;
}

static struct queue_job *choose_next(struct queue_service *service, uint32_t server) {
    const struct queue_service_options *options = &service->options;
    bool skips = options->given_up == QUEUE_SKIP && server != options->servers;
    struct queue_job *job = take_first(&service->servers[server]);
    while (job && job->slot == NO_SLOT && skips) {
        put_job(service, job);
        job = take_first(&service->servers[server]);
    }
    return job;
}

static struct queue_worker *find_idle(const struct queue_service *service, uint32_t server) {
    struct queue_worker *workers = workers_of(service, server);
    for (uint32_t i = 0; i < count_workers(service, server); i++) {
        if (!workers[i].job)
            return &workers[i];
    }
    return NULL;
}

/* Gives a job to an idle worker of a server, or puts it into the server's queue. */
static void enqueue(
    struct queue_service *service, uint32_t number, struct queue_job *job, ss_time now) {
    struct queue_server *server = &service->servers[number];
    struct queue_worker *idle = find_idle(service, number);
    if (idle) {
        start(service, idle, job, now);
        return;
    }
    *server->tail = job;
    server->tail = &job->next;
}

static void set_late_alarm(struct queue_service *service) {
    sleepers_set(service->sleepers, service->first + all_workers(&service->options),
        service->late ? service->late->due : SS_TIME_NEVER);
}

/* Keeps a job whose answer was sent until its late work is due. */
static void postpone(struct queue_service *service, struct queue_job *job, ss_time now) {
    job->length = job->late;
    job->slot = NO_SLOT;
    job->due = ss_time_add(now, service->options.late_by);
    job->next = NULL;
    *service->late_tail = job;
    service->late_tail = &job->next;
    set_late_alarm(service);
}

static void begin_late_work(struct queue_service *service, ss_time now) {
    struct queue_job *job = service->late;
    service->late = job->next;
    if (!service->late)
        service->late_tail = &service->late;
    job->next = NULL;
    enqueue(service, service->options.servers, job, now);
    set_late_alarm(service);
}

bool queue_service_wake(
    struct queue_service *service, uint32_t sleeper, uint32_t *slot, ss_time now) {
    uint32_t index = sleeper - service->first;
    if (index == all_workers(&service->options)) {
        begin_late_work(service, now);
        return false;
    }

    struct queue_worker *worker = &service->workers[index];
    struct queue_job *done = worker->job;
    uint32_t server = server_of(service, worker);
    bool is_late = server == service->options.servers;
    *slot = done->slot;

    service->served += !is_late;
    if (is_late || service->options.late == 0)
        put_job(service, done);
    else
        postpone(service, done, now);
    start(service, worker, choose_next(service, server), now);

    if (*slot == NO_SLOT) {
        service->wasted += !is_late;
        return false;
    }
    service->jobs[*slot] = NULL;
    return true;
}

void queue_service_set_running(
    struct queue_service *service, uint32_t number, bool runs, ss_time now) {
    struct queue_server *server = &service->servers[number];
    if (server->runs == runs)
        return;

    queue_service_used(service, now);
    for (uint32_t i = 0; i < service->options.workers; i++) {
        struct queue_worker *worker = &workers_of(service, number)[i];
        if (!runs && worker->job)
            work_until(service, worker, now);
        worker->since = now;
        if (worker->job)
            service->busy = runs ? service->busy + 1 : service->busy - 1;
    }

    server->runs = runs;
    for (uint32_t i = 0; i < service->options.workers; i++)
        set_alarm(service, &workers_of(service, number)[i]);
    share_cpus(service, now);
}

int queue_service_take(
    struct queue_service *service, uint32_t number, uint32_t slot, uint64_t request, ss_time now) {
    double length = draw_length(service, number, request, now);
    double late = length * service->options.late;
    struct queue_job *job = get_job(service);
    if (!job)
        return -1;

    /* At least 1 ns: if answers took no time, a closed loop would never advance the clock. */
    *job = (struct queue_job){.length = ss_time_from_double(fmax(length - late + 0.5, 1)),
        .late = ss_time_from_double(late + 0.5),
        .slot = slot};

    service->jobs[slot] = job;
    enqueue(service, number, job, now);
    return 0;
}

void queue_service_give_up(struct queue_service *service, uint32_t slot) {
    service->jobs[slot]->slot = NO_SLOT;
    service->jobs[slot] = NULL;
}

int queue_service_open(struct queue_service *service, const struct queue_service_options *options,
    struct sleepers *sleepers, uint32_t first, uint64_t slots, struct ss_error *error) {
    *service = (struct queue_service){
        .options = *options,
        .sleepers = sleepers,
        .first = first,
        .servers = calloc((size_t)options->servers + 1, sizeof *service->servers),
        .workers = calloc(all_workers(options), sizeof *service->workers),
        .jobs = calloc(slots, sizeof(struct queue_job *)),
        .share = 1,
        .late_tail = &service->late,
    };

    draw_factor(service);
    if (!service->servers || !service->workers || !service->jobs)
        return ss_error_memory(error);

    for (uint32_t i = 0; i <= options->servers; i++) {
        service->servers[i].runs = true;
        service->servers[i].tail = &service->servers[i].head;
    }
    return 0;
}

void queue_service_close(struct queue_service *service) {
    for (uint64_t i = 0; service->workers && i < all_workers(&service->options); i++)
        free(service->workers[i].job);
    for (uint32_t i = 0; service->servers && i <= service->options.servers; i++)
        free_jobs(service->servers[i].head);
    free_jobs(service->late);
    free_jobs(service->spare);
    free(service->servers);
    free(service->workers);
    free(service->jobs);
}
