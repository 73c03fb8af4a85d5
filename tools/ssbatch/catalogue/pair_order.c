/* SPDX-License-Identifier: Apache-2.0 */
#include "pair_order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/words.h"

#define NONE SIZE_MAX

void ssbatch_pairs_free(struct ssbatch_pairs *pairs) {
    free(pairs->names);
    free(pairs->items);
    *pairs = (struct ssbatch_pairs){0};
}

/* Returns the index of a name, which is added if it is new; NONE if memory is exhausted. */
static size_t index_of(struct ssbatch_pairs *pairs, const char *name) {
    for (size_t i = 0; i < pairs->name_count; i++) {
        if (strcmp(pairs->names[i], name) == 0)
            return i;
    }
    if (!SS_GROW(pairs->names, pairs->name_count + 1, pairs->name_room))
        return NONE;
    pairs->names[pairs->name_count] = name;
    return pairs->name_count++;
}

static int add_pair(
    struct ssbatch_pairs *pairs, const char *front, const char *back, struct ss_error *error) {
    struct ssbatch_pair pair = {index_of(pairs, front), index_of(pairs, back)};
    if (pair.front == NONE || pair.back == NONE ||
        !SS_GROW(pairs->items, pairs->count + 1, pairs->room))
        return ss_error_memory(error);
    for (size_t i = 0; i < pairs->count; i++) {
        if (pairs->items[i].front == pair.front && pairs->items[i].back == pair.back)
            return ss_error_fail(
                error, "the pair %s:%s is named twice: remove one of them", front, back);
    }
    pairs->items[pairs->count++] = pair;
    return 0;
}

static int add_product(
    struct ssbatch_pairs *pairs, char *const *fronts, char *const *backs, struct ss_error *error) {
    for (; *fronts; fronts++) {
        for (char *const *back = backs; *back; back++) {
            if (add_pair(pairs, *fronts, *back, error) < 0)
                return -1;
        }
    }
    return 0;
}

/*
 * Pairs each name with itself and once with every other. The names are in a circle, and each is in
 * front of those that follow it, up to half of the circle. If their number is even, each of two
 * names that face each other would be in front of the other, so only the first is.
 */
static int add_symmetric(struct ssbatch_pairs *pairs, char *const *names, struct ss_error *error) {
    size_t count = 0;
    while (names[count])
        count++;
    for (size_t apart = 0; 2 * apart <= count; apart++) {
        size_t fronts = apart > 0 && 2 * apart == count ? apart : count;
        for (size_t i = 0; i < fronts; i++) {
            if (add_pair(pairs, names[i], names[(i + apart) % count], error) < 0)
                return -1;
        }
    }
    return 0;
}

/* Adds the pairs of "A:B,C:D", and splits the text in place. */
static int add_list(struct ssbatch_pairs *pairs, char *list, struct ss_error *error) {
    char *next;
    for (char *pair = list; pair; pair = next) {
        next = strchr(pair, ',');
        if (next)
            *next++ = '\0';
        char *back = strchr(pair, ':');
        if (!back || back == pair || !back[1] || strchr(back + 1, ':'))
            return ss_error_fail(error,
                "'%s' is not a pair: write all, symmetric, or a list such as h2:xz,xz:h2",
                ss_words_show(pair).text);
        *back++ = '\0';
        if (add_pair(pairs, pair, back, error) < 0)
            return -1;
    }
    return 0;
}

static int check_names(char *const *names, struct ss_error *error) {
    for (; *names; names++) {
        for (char *const *other = names + 1; *other; other++) {
            if (strcmp(*names, *other) == 0)
                return ss_error_fail(error, "the workload '%s' is named twice: remove one of them",
                    ss_words_show(*names).text);
        }
    }
    return 0;
}

int ssbatch_pairs_add(struct ssbatch_pairs *pairs, char *form, char *const *workloads,
    char *const *background, struct ss_error *error) {
    if (check_names(workloads, error) < 0 || check_names(background, error) < 0)
        return -1;
    if (!form)
        return add_product(pairs, workloads, background, error);
    if (strcmp(form, "all") == 0)
        return add_product(pairs, workloads, workloads, error);
    if (strcmp(form, "symmetric") == 0)
        return add_symmetric(pairs, workloads, error);
    return add_list(pairs, form, error);
}

/*
 * Pairs are the edges of a bipartite graph: each name is a node in front and a node at the back.
 * Gaps are edges that give all nodes the same degree. A graph with equal degrees consists of
 * perfect matchings: groups of pairs in which each name is once in front and once at the back.
 */
struct edge {
    size_t front, back;
    bool is_gap;
    size_t next; /* the next edge with the same ends; NONE: the last one */
};

struct graph {
    size_t nodes, degree;
    struct edge *edges; /* nodes * degree edges */
    size_t edge_count;
    size_t *heads; /* by front * nodes + back: the first edge that is in no group yet; NONE: none
                      left */
    size_t *partner, *by; /* members of a group: for each back, the front or NONE; for each front,
                             the edge */
    bool *tried;          /* for each back */
    struct edge *members; /* edges of all groups; group i begins at i * nodes */
    size_t *sizes;        /* number of pairs in each group, without gaps */
};

static void close_graph(struct graph *graph) {
    free(graph->edges);
    free(graph->heads);
    free(graph->partner);
    free(graph->by);
    free(graph->tried);
    free(graph->members);
    free(graph->sizes);
}

static void add_edge(struct graph *graph, size_t front, size_t back, bool is_gap) {
    size_t *last = &graph->heads[front * graph->nodes + back];
    while (*last != NONE)
        last = &graph->edges[*last].next;
    *last = graph->edge_count;
    graph->edges[graph->edge_count++] = (struct edge){front, back, is_gap, NONE};
}

/* Adds gaps from front nodes that lack edges to back nodes that lack edges. */
static void add_gaps(struct graph *graph, const size_t *fronts, size_t *backs) {
    size_t back = 0;
    for (size_t front = 0; front < graph->nodes; front++) {
        for (size_t edges = fronts[front]; edges < graph->degree; edges++) {
            while (backs[back] >= graph->degree)
                back++;
            add_edge(graph, front, back, true);
            backs[back]++;
        }
    }
}

static int open_graph(
    struct graph *graph, const struct ssbatch_pairs *pairs, struct ss_error *error) {
    size_t nodes = pairs->name_count;
    *graph = (struct graph){.nodes = nodes};
    SS_OWNED(free) size_t *fronts = calloc(nodes + 1, sizeof *fronts);
    SS_OWNED(free) size_t *backs = calloc(nodes + 1, sizeof *backs);
    if (!fronts || !backs)
        return ss_error_memory(error);
    for (size_t i = 0; i < pairs->count; i++) {
        fronts[pairs->items[i].front]++;
        backs[pairs->items[i].back]++;
    }
    for (size_t i = 0; i < nodes; i++) {
        size_t degree = fronts[i] > backs[i] ? fronts[i] : backs[i];
        graph->degree = degree > graph->degree ? degree : graph->degree;
    }
    size_t edges = nodes * graph->degree;
    graph->edges = calloc(edges + 1, sizeof *graph->edges);
    graph->heads = malloc((nodes * nodes + 1) * sizeof *graph->heads);
    graph->partner = calloc(nodes + 1, sizeof *graph->partner);
    graph->by = calloc(nodes + 1, sizeof *graph->by);
    graph->tried = calloc(nodes + 1, sizeof *graph->tried);
    graph->members = calloc(edges + 1, sizeof *graph->members);
    graph->sizes = calloc(graph->degree + 1, sizeof *graph->sizes);
    if (!graph->edges || !graph->heads || !graph->partner || !graph->by || !graph->tried ||
        !graph->members || !graph->sizes)
        return ss_error_memory(error);
    for (size_t i = 0; i < nodes * nodes; i++)
        graph->heads[i] = NONE;
    for (size_t i = 0; i < pairs->count; i++)
        add_edge(graph, pairs->items[i].front, pairs->items[i].back, false);
    add_gaps(graph, fronts, backs);
    return 0;
}

/*
 * Finds a partner for a front node; other nodes change partners if necessary (an augmenting path).
 */
static bool find_partner(struct graph *graph, size_t front) {
    for (size_t apart = 0; apart < graph->nodes; apart++) {
        size_t back = (front + apart) % graph->nodes;
        size_t edge = graph->heads[front * graph->nodes + back];
        if (graph->tried[back] || edge == NONE)
            continue;
        graph->tried[back] = true;
        if (graph->partner[back] == NONE || find_partner(graph, graph->partner[back])) {
            graph->partner[back] = front;
            graph->by[front] = edge;
            return true;
        }
    }
    return false;
}

/* Removes a perfect matching from the graph and makes it a group. */
static void take_group(struct graph *graph, size_t group) {
    size_t nodes = graph->nodes;
    for (size_t i = 0; i < nodes; i++)
        graph->partner[i] = NONE;
    for (size_t i = 0; i < nodes; i++) {
        memset(graph->tried, 0, nodes * sizeof *graph->tried);
        find_partner(graph, i);
    }
    for (size_t i = 0; i < nodes; i++) {
        const struct edge *edge = &graph->edges[graph->by[i]];
        graph->heads[edge->front * nodes + edge->back] = edge->next;
        if (!edge->is_gap)
            graph->members[group * nodes + graph->sizes[group]++] = *edge;
    }
}

static size_t common_divisor(size_t a, size_t b) {
    return b ? common_divisor(b, a % b) : a;
}

/* Prints each pair of a group once in each place, in a different place on each pass. */
static void print_group(FILE *stream, const struct ssbatch_pairs *pairs, const struct graph *graph,
    size_t group, char *const *places, uint64_t round) {
    const struct edge *members = &graph->members[group * graph->nodes];
    size_t size = graph->sizes[group], place_count = 0;
    while (places[place_count])
        place_count++;
    size_t divisor = common_divisor(size, place_count);
    for (size_t first = 0; first < divisor; first++) {
        for (size_t pass = 0; pass < place_count / divisor; pass++) {
            for (size_t i = 0; i < size; i++)
                fprintf(stream, "%s %s %s %llu\n", pairs->names[members[i].front],
                    pairs->names[members[i].back], places[(first + pass * size + i) % place_count],
                    (unsigned long long)round);
        }
    }
}

int ssbatch_pairs_print(FILE *stream, const struct ssbatch_pairs *pairs, char *const *places,
    uint64_t rounds, struct ss_error *error) {
    struct graph graph;
    int status = open_graph(&graph, pairs, error);
    for (size_t group = 0; status == 0 && group < graph.degree; group++)
        take_group(&graph, group);
    for (uint64_t round = 1; status == 0 && round <= rounds; round++) {
        for (size_t group = 0; group < graph.degree; group++)
            print_group(stream, pairs, &graph, group, places, round);
    }
    close_graph(&graph);
    return status;
}
