/* SPDX-License-Identifier: Apache-2.0 */
#include "pair_order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
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
    size_t count = ss_words_count(names);
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
                "'%s' is not a pair: use all, symmetric, or a list such as h2:xz,xz:h2",
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
struct node {
    size_t fronts, backs; /* number of edges with this name in front, and at the back */
    size_t back;          /* in a group: the name at the back of this one */
    size_t front;         /* in a group: the name in front of this one, or NONE */
    bool tried;           /* at the back */
};

struct cell {
    size_t edges; /* number of edges that are in no group yet */
    bool is_pair; /* one of them is a pair, the others are gaps */
};

struct graph {
    size_t count, degree; /* `count` is the number of names */
    struct node *nodes;
    struct cell *cells;           /* by front * count + back */
    struct ssbatch_pair *members; /* pairs of all groups; group i begins at i * count */
    size_t *sizes;                /* number of pairs in each group */
};

static struct cell *cell_of(const struct graph *graph, size_t front, size_t back) {
    return &graph->cells[front * graph->count + back];
}

/* Adds gaps from front nodes that lack edges to back nodes that lack edges. */
static void add_gaps(struct graph *graph) {
    size_t back = 0;
    for (size_t front = 0; front < graph->count; front++) {
        for (; graph->nodes[front].fronts < graph->degree; graph->nodes[front].fronts++) {
            while (graph->nodes[back].backs == graph->degree)
                back++;
            graph->nodes[back].backs++;
            cell_of(graph, front, back)->edges++;
        }
    }
}

static int open_graph(
    struct graph *graph, const struct ssbatch_pairs *pairs, struct ss_error *error) {
    size_t count = pairs->name_count;
    *graph = (struct graph){.count = count};
    graph->nodes = calloc(count + 1, sizeof *graph->nodes);
    graph->cells = calloc(count * count + 1, sizeof *graph->cells);
    if (!graph->nodes || !graph->cells)
        return ss_error_memory(error);

    for (size_t i = 0; i < pairs->count; i++) {
        const struct ssbatch_pair *pair = &pairs->items[i];
        size_t fronts = ++graph->nodes[pair->front].fronts;
        size_t backs = ++graph->nodes[pair->back].backs;
        size_t degree = fronts > backs ? fronts : backs;
        graph->degree = degree > graph->degree ? degree : graph->degree;
        *cell_of(graph, pair->front, pair->back) = (struct cell){.edges = 1, .is_pair = true};
    }
    add_gaps(graph);

    graph->members = calloc(count * graph->degree + 1, sizeof *graph->members);
    graph->sizes = calloc(graph->degree + 1, sizeof *graph->sizes);
    return graph->members && graph->sizes ? 0 : ss_error_memory(error);
}

/*
 * Finds a partner for a front node; other nodes change partners if necessary (an augmenting path).
 */
static bool find_partner(struct graph *graph, size_t front) {
    for (size_t apart = 0; apart < graph->count; apart++) {
        size_t back = (front + apart) % graph->count;
        struct node *node = &graph->nodes[back];
        if (node->tried || cell_of(graph, front, back)->edges == 0)
            continue;
        node->tried = true;
        if (node->front == NONE || find_partner(graph, node->front)) {
            node->front = front;
            graph->nodes[front].back = back;
            return true;
        }
    }
    return false;
}

/* Removes a perfect matching from the graph and makes it a group. */
static void take_group(struct graph *graph, size_t group) {
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i].front = NONE;
    for (size_t i = 0; i < graph->count; i++) {
        for (size_t j = 0; j < graph->count; j++)
            graph->nodes[j].tried = false;
        find_partner(graph, i);
    }

    for (size_t i = 0; i < graph->count; i++) {
        struct ssbatch_pair pair = {i, graph->nodes[i].back};
        struct cell *cell = cell_of(graph, pair.front, pair.back);
        if (cell->is_pair)
            graph->members[group * graph->count + graph->sizes[group]++] = pair;
        cell->is_pair = false;
        cell->edges--;
    }
}

static size_t common_divisor(size_t a, size_t b) {
    return b ? common_divisor(b, a % b) : a;
}

/* Prints each pair of a group once in each place, in a different place on each pass. */
static void print_group(FILE *stream, const struct ssbatch_pairs *pairs, const struct graph *graph,
    size_t group, char *const *places, uint64_t round) {
    const struct ssbatch_pair *members = &graph->members[group * graph->count];
    size_t size = graph->sizes[group], place_count = ss_words_count(places);
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
    free(graph.nodes);
    free(graph.cells);
    free(graph.members);
    free(graph.sizes);
    return status;
}
