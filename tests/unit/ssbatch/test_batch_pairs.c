/* SPDX-License-Identifier: Apache-2.0 */
#include "pair_order.h"
#include "text.h"

#define NAMES_MAX 26

/* The names a, b, c and so on. */
struct names {
    char texts[NAMES_MAX][2];
    char *list[NAMES_MAX + 1];
};

static void make_names(struct names *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        snprintf(names->texts[i], sizeof names->texts[i], "%c", (int)('a' + i));
        names->list[i] = names->texts[i];
    }
    names->list[count] = NULL;
}

static const char *order(
    const char *form, char *const *names, char *const *background, size_t places, uint64_t rounds) {
    static char place_names[][3] = {"p0", "p1", "p2", "p3", "p4", "p5"};
    char *place_list[7] = {NULL};
    for (size_t i = 0; i < places; i++)
        place_list[i] = place_names[i];
    struct ssbatch_pairs pairs = {0};
    struct ss_error error = {0};
    char *copy = form ? strdup(form) : NULL;
    assert_succeeds(ssbatch_pairs_add(&pairs, copy, names, background, &error), error);
    assert_succeeds(ssbatch_pairs_print(text_begin(), &pairs, place_list, rounds, &error), error);
    ssbatch_pairs_free(&pairs);
    free(copy);
    return text_end();
}

static void assert_refused(
    const char *form, char *const *names, char *const *background, const char *message) {
    struct ssbatch_pairs pairs = {0};
    struct ss_error error = {0};
    char *copy = form ? strdup(form) : NULL;
    assert_fails(ssbatch_pairs_add(&pairs, copy, names, background, &error), error, message);
    ssbatch_pairs_free(&pairs);
    free(copy);
}

/* Counts how often each name was on each side in each place. */
struct counts {
    unsigned front[NAMES_MAX][6], back[NAMES_MAX][6];
};

static void assert_spread(unsigned counts[NAMES_MAX][6], size_t names, size_t places) {
    unsigned least = UINT32_MAX, most = 0;
    for (size_t i = 0; i < names; i++) {
        for (size_t place = 0; place < places; place++) {
            least = counts[i][place] < least ? counts[i][place] : least;
            most = counts[i][place] > most ? counts[i][place] : most;
        }
    }
    assert_that(most - least, <=, 1);
}

/* Returns the number of lines. */
static size_t assert_balanced(const char *text, size_t names, size_t places) {
    struct counts counts = {0};
    size_t lines = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1, lines++) {
        char front, back;
        unsigned place, round;
        assert_int_equal(sscanf(line, "%c %c p%u %u", &front, &back, &place, &round), 4);
        counts.front[front - 'a'][place]++;
        counts.back[back - 'a'][place]++;
        assert_spread(counts.front, names, places);
        assert_spread(counts.back, names, places);
    }
    return lines;
}

TEST(every_prefix_of_the_pair_order_is_balanced) {
    static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 25};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct names names;
        make_names(&names, sizes[i]);
        for (size_t places = 1; places <= 6; places++) {
            char *none[] = {NULL};
            const char *all = order("all", names.list, none, places, 2);
            assert_int_equal(
                assert_balanced(all, sizes[i], places), 2 * sizes[i] * sizes[i] * places);
            /* With an even number of names, half are in front once more in each place. */
            if (sizes[i] % 2 == 0)
                continue;
            const char *symmetric = order("symmetric", names.list, none, places, 1);
            assert_int_equal(assert_balanced(symmetric, sizes[i], places),
                sizes[i] * (sizes[i] + 1) / 2 * places);
        }
    }
}

TEST(each_form_of_pairs_lists_the_expected_pairs) {
    char a[] = "a", b[] = "b", c[] = "c", d[] = "d";
    char *abc[] = {a, b, c, NULL}, *ab[] = {a, b, NULL}, *cd[] = {c, d, NULL}, *none[] = {NULL};
    static const char product[] = "a d p0 1\nb c p0 1\na c p0 1\nb d p0 1\n";
    assert_string_equal(order(NULL, ab, cd, 1, 1), product);
    assert_string_equal(order("symmetric", abc, none, 1, 1),
        "a a p0 1\nb b p0 1\nc c p0 1\na b p0 1\nb c p0 1\nc a p0 1\n");
    assert_string_equal(
        order("a:b,b:a", none, none, 2, 1), "a b p0 1\nb a p1 1\na b p1 1\nb a p0 1\n");
    assert_string_equal(order("a:b,a:c,d:a", none, none, 1, 1), /* cannot be balanced */
        "a b p0 1\na c p0 1\nd a p0 1\n");
    assert_string_equal(order("a:a", none, none, 1, 2), "a a p0 1\na a p0 2\n");
}

TEST(symmetric_pairs_have_each_of_an_even_number_of_names_equally_often) {
    struct names names;
    char *none[] = {NULL};
    unsigned counts[4] = {0};
    make_names(&names, 4);
    for (const char *line = order("symmetric", names.list, none, 1, 1); *line;
         line = strchr(line, '\n') + 1) {
        counts[line[0] - 'a']++;
        counts[line[2] - 'a']++;
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(counts[i], 5);
}

TEST(invalid_pairs_are_refused) {
    char a[] = "a", other[] = "a";
    char *twice[] = {a, other, NULL}, *none[] = {NULL};
    assert_refused("all", twice, none, "the workload 'a' is named twice: remove one of them");
    assert_refused(NULL, none, twice, "the workload 'a' is named twice: remove one of them");
    static const char *const forms[] = {"some", "a:", ":a", "a:b:c", "a:b,"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char message[128];
        const char *pair = i == 4 ? "" : forms[i];
        snprintf(message, sizeof message,
            "'%s' is not a pair: use all, symmetric, or a list such as h2:xz,xz:h2", pair);
        assert_refused(forms[i], none, none, message);
    }
    assert_refused("a:b,b:a,a:b", none, none, "the pair a:b is named twice: remove one of them");
}

UNIT_RUN
