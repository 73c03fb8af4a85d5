/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "base/wallclock.h"
#include "unit.h"

#define SECOND INT64_C(1000000000)

/* 2026-11-20T08:00:00Z */
#define MORNING (INT64_C(1795161600) * SECOND)

static void use_zone(const char *zone) {
    setenv("TZ", zone, 1);
    tzset();
}

/* In 2026, clocks skip 02:00 to 03:00 on 29 March, and repeat it on 25 October. */
#define EUROPE "CET-1CEST,M3.5.0,M10.5.0/3"

static void assert_at(const char *text, int64_t now, const char *expected) {
    struct ss_error error = {0};
    int64_t at;
    assert_succeeds(ss_wallclock_parse(text, now, &at, &error), error);
    char printed[64];
    ss_wallclock_print(printed, sizeof printed, at);
    assert_string_equal(printed, expected);
}

static int64_t point(const char *text) {
    int64_t at;
    assert_int_equal(ss_wallclock_parse(text, 0, &at, NULL), 0);
    return at;
}

static void assert_refused(const char *text, const char *part) {
    struct ss_error error = {0};
    int64_t at = 77;
    assert_fails(ss_wallclock_parse(text, MORNING, &at, &error), error, part);
    assert_int_equal(at, 77);
}

TEST(rfc3339_time_is_parsed) {
    use_zone("UTC");
    assert_true(point("2026-11-20T08:00:00Z") == MORNING);
    assert_at("2026-11-20T08:00:00.1239Z", 0, "2026-11-20T08:00:00.123Z");
    assert_at("2026-11-20t08:00:00z", 0, "2026-11-20T08:00:00.000Z");
    assert_at("2026-11-20 08:00:00+02:30", 0, "2026-11-20T05:30:00.000Z");
    assert_at("2026-11-20T23:00:00-05:00", 0, "2026-11-21T04:00:00.000Z");
    assert_at("2026-11-20T08:00Z", 0, "2026-11-20T08:00:00.000Z");
    assert_at("2028-02-29T00:00:00Z", 0, "2028-02-29T00:00:00.000Z");
    assert_at("2016-12-31T23:59:60Z", 0, "2017-01-01T00:00:00.000Z");
    assert_true(point("1970-01-01T00:00:00.000000001Z") == 1);
    assert_true(point("1969-12-31T23:59:59.5Z") == -SECOND / 2);
    assert_at("1969-12-31T23:59:59.5Z", 0, "1969-12-31T23:59:59.500Z");
}

TEST(time_without_offset_is_local) {
    use_zone(EUROPE);
    assert_at("2026-11-20T08:00:00", 0, "2026-11-20T07:00:00.000Z");
    assert_at("2026-07-20T08:00:00.25", 0, "2026-07-20T06:00:00.250Z");
    assert_at("1970-01-01T00:59:59", 0, "1969-12-31T23:59:59.000Z");
    assert_refused("2026-03-29T02:30:00", "does not exist: the clocks skip it");
}

TEST(time_of_day_means_its_next_occurrence) {
    use_zone("UTC");
    assert_at("08:00:01", MORNING, "2026-11-20T08:00:01.000Z");
    assert_at("08:00", MORNING, "2026-11-21T08:00:00.000Z");
    assert_at("08:00", MORNING - 1, "2026-11-20T08:00:00.000Z");
    assert_at("07:59", MORNING, "2026-11-21T07:59:00.000Z");
    assert_at("08:00:00.5", MORNING, "2026-11-20T08:00:00.500Z");
    assert_at("00:00", point("2026-12-31T12:00:00Z"), "2027-01-01T00:00:00.000Z");
    use_zone(EUROPE);
    assert_at("08:00", MORNING, "2026-11-21T07:00:00.000Z");
    assert_at("09:01", MORNING, "2026-11-20T08:01:00.000Z");
}

TEST(time_of_day_skipped_by_dst_means_the_next_day) {
    use_zone(EUROPE);
    assert_at("02:30", point("2026-03-29T00:30:00Z"), "2026-03-30T00:30:00.000Z");
    assert_at("02:30", point("2026-03-28T12:00:00Z"), "2026-03-30T00:30:00.000Z");
    assert_at("03:00", point("2026-03-29T00:30:00Z"), "2026-03-29T01:00:00.000Z");
}

TEST(time_of_day_repeated_by_dst_means_the_next_occurrence) {
    use_zone(EUROPE);
    assert_at("02:30", point("2026-10-24T23:00:00Z"), "2026-10-25T00:30:00.000Z");
    assert_at("02:30", point("2026-10-25T00:45:00Z"), "2026-10-25T01:30:00.000Z");
    assert_at("02:30", point("2026-10-25T01:45:00Z"), "2026-10-26T01:30:00.000Z");
}

TEST(epoch_seconds_are_exact) {
    assert_true(point("@1795161600") == MORNING);
    assert_true(point("@0.000000001") == 1);
    assert_true(point("@0.0000000019") == 1);
    assert_true(point("@9223372036.854775807") == INT64_MAX);
}

TEST(invalid_start_times_are_refused) {
    static const char *const texts[] = {"", "soon", "@", "@-1", "@1.", "@1e3", "@ 1", "8:00", "08",
        "08:", "08:0", "08:00:", "08:00:00.", "08:00Z", "08:00 ", " 08:00", "2026-11-20",
        "2026-11-20T", "2026-11-20T08", "2026-11-20T08:00:00+1", "2026-11-20T08:00:00+01",
        "2026-11-20T08:00:00ZZ", "2026-11-20T08:00:00+24:00", "2026-11-20T08:00:00+01:60",
        "26-11-20T08:00:00Z", "2026/11/20T08:00:00Z", "+2026-11-20T08:00:00Z"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_refused(texts[i], "is not a point in time: use 2026-11-20T08:00:00Z, 08:00");
}

TEST(impossible_days_and_times_are_refused) {
    static const char *const days[] = {"2026-02-29T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z",
        "2100-02-29T00:00:00Z"};
    static const char *const clocks[] = {"2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z", "24:00", "00:60", "00:00:61"};
    for (size_t i = 0; i < sizeof days / sizeof *days; i++)
        assert_refused(days[i], "does not exist: there is no such day");
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        assert_refused(clocks[i], "does not exist: use a time of day from 00:00");
}

TEST(start_times_too_far_away_are_refused) {
    assert_refused("@9223372036.854775808", "too far away");
    assert_refused("@99999999999999999999", "too far away");
    assert_refused("9999-01-01T00:00:00Z", "too far away");
    assert_refused("0001-01-01T00:00:00Z", "too far away");
}

TEST(every_time_can_be_printed) {
    char text[64];
    ss_wallclock_print(text, sizeof text, INT64_MAX);
    assert_string_equal(text, "2262-04-11T23:47:16.854Z");
    ss_wallclock_print(text, sizeof text, INT64_MIN);
    assert_string_equal(text, "1677-09-21T00:12:43.145Z");
}

UNIT_RUN
