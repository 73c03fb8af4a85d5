/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_service.h"

#include <math.h>
#include <stdlib.h>

#include "chance.h"

/* Makes the work of requests independent of their arrival times, which have the same seed. */
#define WORK_SALT UINT64_C(0x776f726b)

#define NO_SLOT UINT32_MAX

struct queue_job {
    struct queue_job *next; /* next job in its server's queue, or among the spare ones */
    ss_time length;         /* length on this server without interruptions */
    uint32_t slot;          /* NO_SLOT: its client has given up */
};

struct queue_worker {
    struct queue_job *job; /* NULL: idle */
    ss_time left;          /* the part of the job that is left at `since` */
    ss_time since;
};

struct queue_server {
    bool runs;
    struct queue_job *head;
    struct queue_job **tail;
};

static struct queue_worker *workers_of(const struct queue_service *service, uint32_t server) {
    return &service->workers[(size_t)server * service->options.workers];
}

static uint32_t server_of(const struct queue_service *service, const struct queue_worker *worker) {
    return (uint32_t)((size_t)(worker - service->workers) / service->options.workers);
}

static ss_time draw_length(const struct queue_service *service, uint32_t server, uint64_t number) {
    const struct queue_service_options *options = &service->options;
    double length = (double)options->work;
    if (options->spread == QUEUE_EXPONENTIAL)
        length *= ss_random_exponential(ss_random(options->seed + WORK_SALT, number));
    if (options->speeds)
        length /= options->speeds[server];
    /* Clients of a closed loop would never end a moment in which all answers take no time. */
    return ss_time_from_double(fmax(length + 0.5, 1));
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

static void set_alarm(struct queue_service *service, const struct queue_worker *worker, bool runs) {
    ss_time due = SS_TIME_NEVER;
    if (worker->job && runs)
        due = ss_time_add(worker->since, worker->left);
    sleepers_set(service->sleepers, service->first + (uint32_t)(worker - service->workers), due);
}

static void start(struct queue_service *service, struct queue_worker *worker, struct queue_job *job,
    ss_time now) {
    bool runs = service->servers[server_of(service, worker)].runs;
    service->busy -= runs && worker->job;
    service->busy += runs && job;
    *worker = (struct queue_worker){.job = job, .left = job ? job->length : 0, .since = now};
    set_alarm(service, worker, runs);
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
    struct queue_job *job = take_first(&service->servers[server]);
    while (job && job->slot == NO_SLOT && service->options.given_up == QUEUE_SKIP) {
        put_job(service, job);
        job = take_first(&service->servers[server]);
    }
    return job;
}

bool queue_service_wake(
    struct queue_service *service, uint32_t sleeper, uint32_t *slot, ss_time now) {
    struct queue_worker *worker = &service->workers[sleeper - service->first];
    *slot = worker->job->slot;
    put_job(service, worker->job);
    service->served++;
    start(service, worker, choose_next(service, server_of(service, worker)), now);
    if (*slot == NO_SLOT) {
        service->wasted++;
        return false;
    }
    service->jobs[*slot] = NULL;
    return true;
}

void queue_service_let_run(struct queue_service *service, uint32_t number, bool runs, ss_time now) {
    struct queue_server *server = &service->servers[number];
    if (server->runs == runs)
        return;
    server->runs = runs;
    for (uint32_t i = 0; i < service->options.workers; i++) {
        struct queue_worker *worker = &workers_of(service, number)[i];
        if (!runs)
            worker->left -= worker->job ? now - worker->since : 0;
        worker->since = now;
        if (worker->job)
            service->busy = runs ? service->busy + 1 : service->busy - 1;
        set_alarm(service, worker, runs);
    }
}

static struct queue_worker *find_idle(const struct queue_service *service, uint32_t server) {
    struct queue_worker *workers = workers_of(service, server);
    for (uint32_t i = 0; i < service->options.workers; i++) {
        if (!workers[i].job)
            return &workers[i];
    }
    return NULL;
}

int queue_service_take(
    struct queue_service *service, uint32_t number, uint32_t slot, uint64_t request, ss_time now) {
    struct queue_server *server = &service->servers[number];
    struct queue_job *job = get_job(service);
    if (!job)
        return -1;
    *job = (struct queue_job){.length = draw_length(service, number, request), .slot = slot};
    service->jobs[slot] = job;
    struct queue_worker *idle = find_idle(service, number);
    if (idle) {
        start(service, idle, job, now);
        return 0;
    }
    *server->tail = job;
    server->tail = &job->next;
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
        .servers = calloc(options->servers, sizeof *service->servers),
        .workers = calloc(queue_service_workers(options), sizeof *service->workers),
        .jobs = calloc(slots, sizeof(struct queue_job *)),
    };
    if (!service->servers || !service->workers || !service->jobs)
        return ss_error_memory(error);
    for (uint32_t i = 0; i < options->servers; i++) {
        service->servers[i].runs = true;
        service->servers[i].tail = &service->servers[i].head;
    }
    return 0;
}

void queue_service_close(struct queue_service *service) {
    for (uint64_t i = 0; service->workers && i < queue_service_workers(&service->options); i++)
        free(service->workers[i].job);
    for (uint32_t i = 0; service->servers && i < service->options.servers; i++)
        free_jobs(service->servers[i].head);
    free_jobs(service->spare);
    free(service->servers);
    free(service->workers);
    free(service->jobs);
}
