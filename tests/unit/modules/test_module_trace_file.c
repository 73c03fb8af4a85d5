/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/trace.h>

#include "modules.h"
#include "trace/compiled.h"
#include "trace/file.h"
#include "tree.h"

static const struct ss_trace_module *module_of(const struct rig *rig) {
    return (const struct ss_trace_module *)rig->head;
}

/* Opens the module on a trace with this text; `options` follow the path. */
static struct rig open_text(const char *text, const char *options) {
    char whole[512];
    tree_new();
    snprintf(whole, sizeof whole, "%s%s", tree_write("trace", text), options);
    return rig_open("trace/file", whole, 2, 2);
}

static struct rig open_saw(const char *options) {
    char whole[4096];
    snprintf(whole, sizeof whole, "%s/traces/saw.txt%s", PROJECT_SOURCE_DIR, options);
    return rig_open("trace/file", whole, 2, 2);
}

static struct ss_target at(const struct rig *rig, double seconds) {
    struct ss_target target;
    module_of(rig)->target(&rig->selves[0], ss_time_from_double(seconds * 1e9), &target);
    return target;
}

static ss_time length_of(const struct rig *rig) {
    return module_of(rig)->length(&rig->selves[0]);
}

TEST(compiled_and_text_traces_give_the_same_targets) {
    static const char whole[] = PROJECT_SOURCE_DIR "/traces/staircase.txt";
    struct ss_trace_records records;
    struct ss_trace_writer writer;
    tree_new();
    const char *path = tree_path("compiled");
    assert_int_equal(ss_trace_load(whole, &records, NULL), 0);
    FILE *stream = fopen(path, "we");
    ss_trace_writer_open(&writer, stream, records.count, records.items[records.count - 1].time);
    for (size_t i = 0; i < records.count; i++) {
        struct ss_trace_packed packed = ss_trace_pack(&records.items[i]);
        ss_trace_writer_add(&writer, &packed);
    }
    ss_trace_writer_close(&writer);
    fclose(stream);
    ss_trace_records_free(&records);
    RIG text = rig_open("trace/file", whole, 2, 2);
    RIG compiled = rig_open("trace/file", path, 2, 2);
    for (double seconds = 0; seconds < 8000; seconds += 7.3) {
        struct ss_target a = at(&text, seconds), b = at(&compiled, seconds);
        assert_that(a.load, ==, b.load);
        assert_that(a.free, ==, b.free);
        assert_that(a.until, ==, b.until);
    }
}

/* A target in percent; `until` is the end of a free section, in seconds. */
struct point {
    double seconds, percent, until;
};

#define ENDLESS INFINITY

TEST(targets_follow_the_records) {
    // clang-format off
    static const struct {
        const char *text, *options; /* without a text: the example saw.txt */
        double length;
        struct point points[6];
        int count;
    } rows[] = {
        {NULL, "", ENDLESS, {{0, 10}, {10, 35}, {20, 60}, {50, 50}, {110, 50}, {120, 10}}, 6},
        {NULL, "", ENDLESS, {{130, 35}, {120 * 1000 + 50, 50}}, 2},
        {NULL, ",loop=no", 120, {{119, 14}, {1e9, 10}}, 2},
        {NULL, ",scale=1/3,loop=no", 40, {{10.0 / 3, 35}, {50.0 / 3, 50}}, 2},
        {NULL, ",offset=50s,loop=no", 70, {{0, 50}, {60, 50}}, 2}, /* in the time of the file */
        {NULL, ",offset=50s,scale=2", ENDLESS, {{0, 50}, {140, 10}}, 2},
        {NULL, ",offset=130s", ENDLESS, {{0, 35}}, 1},
        {"1d 10%\n2d 10%\n", ",scale=1/3,loop=no", 57600, {{0, 10}}, 1},
        /* A loop begins at the first record. */
        {"10s 20%\n20s 80%\n", "", ENDLESS,
            {{0, 20}, {9, 20}, {19, 74}, {20, 20}, {25, 50}, {30, 20}}, 6},
        {"0 10%\n10s 10%\n10s 30%\n10s 60%\n20s 60%\n", ",loop=no", 20,
            {{9.999999999, 10}, {10, 60}, {15, 60}}, 3},
        {"0 free\n10s 20%\n20s 40%\n30s free\n35s free\n40s 60%\n", ",loop=no", 40,
            {{9.5, 0, 10}, {10, 20}, {25, 40}, {30, 40, 40}, {37, 40, 40}, {40, 60}}, 6},
        /* A loop does not repeat a leading free section. */
        {"0 free\n10s 20%\n20s 40%\n30s free\n40s 60%\n", ",offset=5s", ENDLESS,
            {{0, 0, 5}, {5, 20}, {35, 20}, {40, 30}, {56, 40, 65}, {65, 20}}, 6},
        {"10s free\n20s 20%\n30s 20%\n", "", ENDLESS, {{0, 0, 20}, {30, 20}}, 2},
        /* A final free section never ends. */
        {"0 20%\n10s free\n", ",loop=no", 10, {{9, 20}, {10, 20, ENDLESS}}, 2},
        {"0 20%\n10s free\n", "", ENDLESS, {{10, 20}, {25, 20}}, 2},
        {"0 20%\n10s free\n20s free\n", "", ENDLESS, {{15, 20, 20}, {20, 20}, {35, 20, 40}}, 3},
        /* A loop of length 0 holds its last load. */
        {"5s 20%\n5s 70%\n", "", ENDLESS, {{0, 20}, {5, 70}, {1e6, 70}}, 3},
        {"0 free\n5s 70%\n", "", ENDLESS, {{1, 0, 5}, {1e6, 70}}, 2},
        {"0 free\n9s free\n", "", ENDLESS, {{1, 0, ENDLESS}, {100, 0, ENDLESS}}, 2},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        RIG rig =
            rows[i].text ? open_text(rows[i].text, rows[i].options) : open_saw(rows[i].options);
        assert_that(length_of(&rig), ==, ss_time_from_double(rows[i].length * 1e9));
        for (const struct point *point = rows[i].points; point < rows[i].points + rows[i].count;
             point++) {
            struct ss_target target = at(&rig, point->seconds);
            assert_near(target.load, point->percent / 100, 1e-9);
            assert_int_equal(target.free, point->until > 0);
            if (target.free)
                assert_that(target.until, ==, ss_time_from_double(point->until * 1e9));
        }
    }
}

TEST(excessive_trace_times_saturate) {
    RIG rig = open_saw(",offset=30s");
    assert_near(at(&rig, ENDLESS).load, 0.5, 0.4);
}

TEST(trace_lookups_do_not_depend_on_their_order) {
    enum { RECORDS = 1000 };
    char *text = calloc(RECORDS, 32);
    assert_non_null(text);
    for (int i = 0, length = 0; i < RECORDS; i++)
        length += sprintf(text + length, "%dm %d/1000\n", i / 3 * 7, i * 37 % 1000);
    RIG rig = open_text(text, "");
    free(text);
    const struct ss_self *stepping = &rig.selves[0], *jumping = &rig.selves[1];
    uint64_t random = 1;
    for (ss_time time = 0; time < 5 * SS_SECOND; time += SS_MILLISECOND) {
        struct ss_target expected, found;
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        module_of(&rig)->target(jumping, (random >> 32) * 1000, &found);
        module_of(&rig)->target(jumping, time, &found);
        module_of(&rig)->target(stepping, time, &expected);
        assert_that(found.load, ==, expected.load);
        assert_that(found.free, ==, expected.free);
    }
}

TEST(bad_trace_files_and_options_are_refused) {
    static const struct {
        const char *text, *options, *words;
    } rows[] = {
        {"0 10%\n20s 60%\n", ",scale=0", "scale must be more than 0"},
        {"0 10%\n20s 60%\n", ",scale=99999999999", "longer than 584 years"},
        {"0 10%\n20s 60%\n", ",loop=no,offset=20s", "offset is not before the end"},
        {"0 10%\n0 60%\n", ",loop=no", "has length 0: give its last record a later time"},
        {"0 10%\n0 60%\n", ",loop=no,offset=1s", "has length 0: give its last record a later time"},
        {"0 10%\n20 60%\n", "", ":2:1: '20' has no unit"},
    };
    tree_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char whole[512];
        snprintf(whole, sizeof whole, "%s%s", tree_write("trace", rows[i].text), rows[i].options);
        assert_refused("trace/file", whole, rows[i].words);
    }
    assert_refused("trace/file", "loop=no", "path");
    assert_refused("trace/file", "-", "standard input");
    assert_refused("trace/file", "/nowhere/saw.txt", "cannot open /nowhere/saw.txt: No such");
    assert_refused("trace/file", "/", "cannot read /: Is a directory");
}

TEST(measurements_are_refused_with_a_hint_to_sstrace) {
    static const struct {
        const char *text;
        bool measured;
    } rows[] = {
        {"{\"status\":\"success\",\"data\":{\"result\":[]}}\n", true},
        {"time,load\n0,10\n", true},
        {"2026-11-30;12\n", true},
        {"Linux 6.1.0 (box)\n", true},
        {"# a, b\nx y\n", false},
        {"0 10%\n5s x,y\n", false},
        {"none\n", false},
    };
    tree_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ss_trace_records records;
        struct ss_error error = {0};
        assert_int_equal(ss_trace_load(tree_write("trace", rows[i].text), &records, &error), -1);
        if (!!strstr(error.message, "sstrace converts measurements to traces") != rows[i].measured)
            fail_msg("row %zu: %s", i, error.message);
    }
}

UNIT_RUN
