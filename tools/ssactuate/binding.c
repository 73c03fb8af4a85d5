/* SPDX-License-Identifier: Apache-2.0 */
#include "binding.h"

#include <stdlib.h>

#include "base/grow.h"

void ssactuate_binding_begin(struct ssactuate_binding *binding) {
    binding->new_count = 0;
    for (size_t i = 0; i < binding->count; i++)
        binding->threads[i].seen = false;
}

void ssactuate_binding_visit(struct ssactuate_binding *binding, pid_t id, uint64_t started) {
    for (size_t i = 0; i < binding->count; i++) {
        struct ssactuate_thread *thread = &binding->threads[i];
        if (thread->id == id && thread->started == started) {
            thread->seen = true;
            return;
        }
    }

    /* If memory is exhausted, the next scan finds the thread again. */
    if (SS_GROW(binding->new_threads, binding->new_count + 1, binding->new_room))
        binding->new_threads[binding->new_count++] =
            (struct ssactuate_thread){.id = id, .started = started, .seen = true};
}

static int compare_new_threads(const void *left, const void *right) {
    const struct ssactuate_thread *a = left, *b = right;
    if (a->started != b->started)
        return a->started < b->started ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static uint32_t find_cpu(const struct ssactuate_binding *binding) {
    uint32_t best = binding->cpus->cpus[0];
    size_t fewest = SIZE_MAX;
    for (uint32_t i = 0; fewest > 0 && i < binding->cpus->count; i++) {
        size_t count = 0;
        for (size_t j = 0; j < binding->count; j++)
            count += binding->threads[j].cpu == binding->cpus->cpus[i];
        if (count < fewest) {
            fewest = count;
            best = binding->cpus->cpus[i];
        }
    }
    return best;
}

void ssactuate_binding_end(struct ssactuate_binding *binding,
    void (*bind)(void *context, pid_t id, uint32_t cpu), void *context) {
    size_t kept = 0;
    for (size_t i = 0; i < binding->count; i++) {
        if (binding->threads[i].seen)
            binding->threads[kept++] = binding->threads[i];
    }
    binding->count = kept;

    if (binding->new_count > 0)
        qsort(binding->new_threads, binding->new_count, sizeof *binding->new_threads,
            compare_new_threads);
    for (size_t i = 0; i < binding->new_count; i++) {
        struct ssactuate_thread *thread = &binding->new_threads[i];
        if (!SS_GROW(binding->threads, binding->count + 1, binding->room))
            return;
        thread->cpu = find_cpu(binding);
        binding->threads[binding->count++] = *thread;
        binding->is_oversubscribed |= binding->count > binding->cpus->count;
        bind(context, thread->id, thread->cpu);
    }
}

void ssactuate_binding_free(struct ssactuate_binding *binding) {
    free(binding->threads);
    free(binding->new_threads);
    *binding = (struct ssactuate_binding){0};
}
