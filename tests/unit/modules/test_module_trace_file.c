/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include <showstopper/trace.h>

#include "modules.h"
#include "trace/compiled.h"
#include "trace/file.h"

static const struct ss_trace_module *module_of(const struct rig *rig) {
    return (const struct ss_trace_module *)rig->head;
}

static void write_trace(char *path, const char *text) {
    strcpy(path, "/tmp/test_module_trace_file.XXXXXX");
    int descriptor = mkstemp(path);
    assert_that(descriptor, >=, 0);
    assert_int_equal(write(descriptor, text, strlen(text)), strlen(text));
    close(descriptor);
}

/* Opens the module on a trace with this text; `options` follow the path. */
static struct rig open_text(const char *text, const char *options) {
    char path[64], whole[256];
    write_trace(path, text);
    snprintf(whole, sizeof whole, "%s%s", path, options);
    struct rig rig = rig_open("trace/file", whole, 2, 2);
    unlink(path);
    return rig;
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

static double load_at(const struct rig *rig, double seconds) {
    struct ss_target target = at(rig, seconds);
    assert_false(target.free);
    return target.load;
}

static void assert_free(const struct rig *rig, double seconds, double load, ss_time until) {
    struct ss_target target = at(rig, seconds);
    assert_true(target.free);
    assert_near(target.load, load, 0);
    if (target.until != until)
        fail_msg("free until %llu", (unsigned long long)target.until);
}

static ss_time length_of(const struct rig *rig) {
    return module_of(rig)->length(&rig->selves[0]);
}

TEST(compiled_and_text_traces_give_the_same_targets) {
    RIG text = {0}, compiled = {0};
    struct ss_trace_records records;
    struct ss_trace_writer writer;
    char path[64] = "/tmp/test_module_trace_file.XXXXXX", whole[256];
    snprintf(whole, sizeof whole, "%s/traces/staircase.txt", PROJECT_SOURCE_DIR);
    assert_int_equal(ss_trace_load(whole, &records, NULL), 0);
    text = rig_open("trace/file", whole, 2, 2);
    FILE *stream = fdopen(mkstemp(path), "w");
    ss_trace_writer_open(&writer, stream, records.count, records.items[records.count - 1].time);
    for (size_t i = 0; i < records.count; i++) {
        struct ss_trace_packed packed = ss_trace_pack(&records.items[i]);
        ss_trace_writer_add(&writer, &packed);
    }
    ss_trace_writer_close(&writer);
    fclose(stream);
    ss_trace_records_free(&records);
    compiled = rig_open("trace/file", path, 2, 2);
    unlink(path);
    for (double seconds = 0; seconds < 8000; seconds += 7.3) {
        struct ss_target a = at(&text, seconds), b = at(&compiled, seconds);
        assert_that(a.load, ==, b.load);
        assert_that(a.free, ==, b.free);
        assert_that(a.until, ==, b.until);
    }
}

TEST(trace_file_is_interpolated) {
    RIG rig = open_saw("");
    assert_near(load_at(&rig, 0), 0.1, 1e-12);
    assert_near(load_at(&rig, 10), 0.35, 1e-12);
    assert_near(load_at(&rig, 20), 0.6, 1e-12);
    assert_near(load_at(&rig, 50), 0.5, 1e-12);
    assert_near(load_at(&rig, 110), 0.5, 1e-12);
}

TEST(trace_file_loops_by_default) {
    RIG rig = open_saw("");
    assert_that(length_of(&rig), ==, SS_TIME_NEVER);
    assert_near(load_at(&rig, 120), 0.1, 1e-12);
    assert_near(load_at(&rig, 130), 0.35, 1e-12);
    assert_near(load_at(&rig, 120 * 1000 + 50), 0.5, 1e-12);
    rig_close(&rig);
    rig = open_saw(",loop=no");
    assert_that(length_of(&rig), ==, 120 * SS_SECOND);
    assert_near(load_at(&rig, 119), 0.14, 1e-12);
    assert_near(load_at(&rig, 1e9), 0.1, 1e-12);
}

TEST(trace_loop_restarts_at_the_first_record) {
    RIG rig = open_text("10s 20%\n20s 80%\n", "");
    assert_near(load_at(&rig, 0), 0.2, 1e-12);
    assert_near(load_at(&rig, 9), 0.2, 1e-12);
    assert_near(load_at(&rig, 19), 0.74, 1e-12);
    assert_near(load_at(&rig, 20), 0.2, 1e-12);
    assert_near(load_at(&rig, 25), 0.5, 1e-12);
    assert_near(load_at(&rig, 30), 0.2, 1e-12);
}

TEST(trace_records_with_equal_times_make_a_step) {
    RIG rig = open_text("0 10%\n10s 10%\n10s 30%\n10s 60%\n20s 60%\n", ",loop=no");
    assert_near(load_at(&rig, 9.999999999), 0.1, 1e-12);
    assert_near(load_at(&rig, 10), 0.6, 1e-12);
    assert_near(load_at(&rig, 15), 0.6, 1e-12);
}

TEST(trace_scale_changes_the_speed) {
    RIG rig = open_saw(",scale=1/3,loop=no");
    assert_that(length_of(&rig), ==, 40 * SS_SECOND);
    assert_near(load_at(&rig, 10.0 / 3), 0.35, 1e-9);
    assert_near(load_at(&rig, 50.0 / 3), 0.5, 1e-9);
    rig_close(&rig);
    rig = open_text("1d 10%\n2d 10%\n", ",scale=1/3,loop=no");
    assert_that(length_of(&rig), ==, 57600 * SS_SECOND);
}

TEST(trace_offset_is_in_file_time) {
    RIG rig = open_saw(",offset=50s,loop=no");
    assert_that(length_of(&rig), ==, 70 * SS_SECOND);
    assert_near(load_at(&rig, 0), 0.5, 1e-12);
    assert_near(load_at(&rig, 60), 0.5, 1e-12);
    rig_close(&rig);
    rig = open_saw(",offset=50s,scale=2");
    assert_near(load_at(&rig, 0), 0.5, 1e-12);
    assert_near(load_at(&rig, 140), 0.1, 1e-12);
    rig_close(&rig);
    rig = open_saw(",offset=130s");
    assert_near(load_at(&rig, 0), 0.35, 1e-12);
}

TEST(free_section_targets_include_their_end) {
    RIG rig = open_text("0 free\n10s 20%\n20s 40%\n30s free\n35s free\n40s 60%\n", ",loop=no");
    assert_free(&rig, 0, 0, 10 * SS_SECOND);
    assert_free(&rig, 9.5, 0, 10 * SS_SECOND);
    assert_near(load_at(&rig, 10), 0.2, 1e-12);
    assert_near(load_at(&rig, 25), 0.4, 1e-12);
    assert_free(&rig, 30, 0.4, 40 * SS_SECOND);
    assert_free(&rig, 37, 0.4, 40 * SS_SECOND);
    assert_near(load_at(&rig, 40), 0.6, 1e-12);
}

TEST(leading_free_section_is_not_repeated_by_a_loop) {
    RIG rig = open_text("0 free\n10s 20%\n20s 40%\n30s free\n40s 60%\n", ",offset=5s");
    assert_free(&rig, 0, 0, 5 * SS_SECOND);
    assert_near(load_at(&rig, 5), 0.2, 1e-12);
    assert_near(load_at(&rig, 35), 0.2, 1e-12);
    assert_near(load_at(&rig, 40), 0.3, 1e-12);
    assert_free(&rig, 56, 0.4, 65 * SS_SECOND);
    assert_near(load_at(&rig, 65), 0.2, 1e-12);
}

TEST(trace_is_free_before_a_leading_free_record) {
    RIG rig = open_text("10s free\n20s 20%\n30s 20%\n", "");
    assert_free(&rig, 0, 0, 20 * SS_SECOND);
    assert_near(load_at(&rig, 30), 0.2, 1e-12);
}

TEST(final_free_section_never_ends) {
    RIG rig = open_text("0 20%\n10s free\n", ",loop=no");
    assert_that(length_of(&rig), ==, 10 * SS_SECOND);
    assert_near(load_at(&rig, 9), 0.2, 1e-12);
    assert_free(&rig, 10, 0.2, SS_TIME_NEVER);
    rig_close(&rig);
    rig = open_text("0 20%\n10s free\n", "");
    assert_near(load_at(&rig, 10), 0.2, 1e-12);
    assert_near(load_at(&rig, 25), 0.2, 1e-12);
    rig_close(&rig);
    rig = open_text("0 20%\n10s free\n20s free\n", "");
    assert_free(&rig, 15, 0.2, 20 * SS_SECOND);
    assert_near(load_at(&rig, 20), 0.2, 1e-12);
    assert_free(&rig, 35, 0.2, 40 * SS_SECOND);
}

TEST(zero_length_loop_holds_its_last_load) {
    RIG rig = open_text("5s 20%\n5s 70%\n", "");
    assert_that(length_of(&rig), ==, SS_TIME_NEVER);
    assert_near(load_at(&rig, 0), 0.2, 1e-12);
    assert_near(load_at(&rig, 5), 0.7, 1e-12);
    assert_near(load_at(&rig, 1e6), 0.7, 1e-12);
    rig_close(&rig);
    rig = open_text("0 free\n5s 70%\n", "");
    assert_free(&rig, 1, 0, 5 * SS_SECOND);
    assert_near(load_at(&rig, 1e6), 0.7, 1e-12);
    rig_close(&rig);
    rig = open_text("0 free\n9s free\n", "");
    assert_free(&rig, 1, 0, SS_TIME_NEVER);
    assert_free(&rig, 100, 0, SS_TIME_NEVER);
}

TEST(excessive_trace_times_saturate) {
    RIG rig = {0};
    struct ss_target target;
    rig = open_saw(",offset=30s");
    module_of(&rig)->target(&rig.selves[0], SS_TIME_NEVER, &target);
    assert_that(target.load, >=, 0.1);
    assert_that(target.load, <=, 0.9);
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

TEST(bad_trace_file_options_are_refused) {
    char path[64], options[128];
    write_trace(path, "0 10%\n20s 60%\n");
    snprintf(options, sizeof options, "%s,scale=0", path);
    assert_refused("trace/file", options, "scale must be more than 0");
    snprintf(options, sizeof options, "%s,scale=99999999999", path);
    assert_refused("trace/file", options, "longer than 584 years");
    snprintf(options, sizeof options, "%s,loop=no,offset=20s", path);
    assert_refused("trace/file", options, "offset is not before the end");
    unlink(path);
    write_trace(path, "0 10%\n0 60%\n");
    snprintf(options, sizeof options, "%s,loop=no", path);
    assert_refused("trace/file", options, "has length 0: give its last record a later time");
    snprintf(options, sizeof options, "%s,loop=no,offset=1s", path);
    assert_refused("trace/file", options, "has length 0: give its last record a later time");
    unlink(path);
    assert_refused("trace/file", "loop=no", "path");
}

TEST(bad_trace_files_are_refused) {
    assert_refused("trace/file", "-", "standard input");
    assert_refused("trace/file", "/nowhere/saw.txt", "/nowhere/saw.txt cannot be opened: No such");
    assert_refused("trace/file", "/", "cannot be read: Is a directory");
    char path[64];
    write_trace(path, "0 10%\n20 60%\n");
    assert_refused("trace/file", path, ":2:1: '20' has no unit");
    unlink(path);
}

UNIT_RUN
