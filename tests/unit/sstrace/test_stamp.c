/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "stamp.h"
#include "unit.h"

#define SECOND INT64_C(1000000000)
#define HOUR   (3600 * SECOND)

typedef bool reader(const char *text, size_t length, int64_t *ns);

struct reading {
    const char *text;
    int64_t ns;
};

static bool read_seconds(const char *text, size_t length, int64_t *ns) {
    return sstrace_stamp_number(text, length, SECOND, ns);
}

/* Appends a byte: parsing must not depend on the bytes after the text. */
static bool read_part(reader *read, const char *text, int64_t *ns) {
    char longer[128];
    snprintf(longer, sizeof longer, "%s5", text);
    return read(longer, strlen(text), ns);
}

static void assert_read(reader *read, const struct reading *readings, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int64_t ns = 0;
        if (!read_part(read, readings[i].text, &ns))
            fail_msg("'%s' was refused", readings[i].text);
        if (ns != readings[i].ns)
            fail_msg("'%s' is %lld", readings[i].text, (long long)ns);
    }
}

static void assert_refused(reader *read, const char *const *texts) {
    int64_t ns;
    for (; *texts; texts++) {
        if (read_part(read, *texts, &ns))
            fail_msg("'%s' was accepted as %lld", *texts, (long long)ns);
    }
}

#define ASSERT_READ(read, readings) assert_read(read, readings, sizeof readings / sizeof *readings)

TEST(numeric_timestamps_are_exact) {
    static const struct reading readings[] = {
        {"0", 0},
        {"1435781430.781", INT64_C(1435781430781000000)},
        {"1435781430,781", INT64_C(1435781430781000000)},
        {"9007199254.740993001", INT64_C(9007199254740993001)},
        {"0.0000000004", 0},
        {"0.0000000005", 1},
        {"-1.5", -1500000000},
        {"+2", 2000000000},
        {"1.5e3", 1500 * SECOND},
        {"15e-1", 1500000000},
        {".25", 250000000},
        {"5.", 5 * SECOND},
        {"0000000000000000000000000000001", SECOND},
        {"9223372036.854775807", INT64_MAX},
    };
    ASSERT_READ(read_seconds, readings);
    static const char *const bad[] = {"", "-", ".", "1.2.3", "0x10", "inf", "nan", "1e", "1e+",
        "9223372036.854775808", "9223372037", "1e300", "1 ", " 1", "1s", "99999999999999999999",
        NULL};
    assert_refused(read_seconds, bad);
}

TEST(timestamp_units_are_known) {
    int64_t ns = 0;
    assert_int_equal(sstrace_stamp_unit("s"), SECOND);
    assert_int_equal(sstrace_stamp_unit("ms"), 1000000);
    assert_int_equal(sstrace_stamp_unit("us"), 1000);
    assert_int_equal(sstrace_stamp_unit("ns"), 1);
    assert_int_equal(sstrace_stamp_unit("mins"), 60 * SECOND);
    assert_int_equal(sstrace_stamp_unit("hours"), 3600 * SECOND);
    assert_int_equal(sstrace_stamp_unit("m"), 0);
    assert_int_equal(sstrace_stamp_unit("hs"), 0);
    assert_true(sstrace_stamp_number("-2.25", 5, 3600 * SECOND, &ns));
    assert_int_equal(ns, -8100 * SECOND);
    assert_false(sstrace_stamp_number("2562047.9", 9, 3600 * SECOND, &ns));
    assert_true(sstrace_stamp_number("1435781430781.5", 15, 1000000, &ns));
    assert_int_equal(ns, INT64_C(1435781430781500000));
    assert_true(sstrace_stamp_number("1.5", 3, 1, &ns));
    assert_int_equal(ns, 2);
    assert_true(sstrace_stamp_number("1435781430781500001", 19, 1, &ns));
    assert_int_equal(ns, INT64_C(1435781430781500001));
    assert_false(sstrace_stamp_number("1435781430781", 13, SECOND, &ns));
}

TEST(dates_in_timestamps_are_read) {
    static const struct reading readings[] = {
        {"1970-01-01 00:00:00", 0},
        {"1970-01-01", 0},
        {"2026-11-20 14:50:29", 1795186229 * SECOND},
        {"2026-11-20T14:50:29Z", 1795186229 * SECOND},
        {"2026/11/20 14:50:29 UTC", 1795186229 * SECOND},
        {"2026-11-20 14:50:29 GMT", 1795186229 * SECOND},
        {"2026-11-20 14:50:29 CET", 1795186229 * SECOND},
        {"2026-11-20T15:50:29+01:00", 1795186229 * SECOND},
        {"2026-11-20 15:50:29 +0100", 1795186229 * SECOND},
        {"2026-11-20 11:50:29 -03", 1795186229 * SECOND},
        {"2026-11-20T20:20:29.5+0530", 1795186229 * SECOND + SECOND / 2},
        {"2026-11-20 14:50:29.123456789", 1795186229 * SECOND + 123456789},
        {"2026-11-20 14:50:29,123", 1795186229 * SECOND + 123000000},
        {"2026-11-20 14:50", 1795186200 * SECOND},
        {"2000-02-29 00:00:00", 951782400 * SECOND},
        {"2024-02-29 12:00:00", 1709208000 * SECOND},
        {"2024-03-01 00:00:00", 1709251200 * SECOND},
        {"1969-12-31 23:59:59", -SECOND},
        {"2016-12-31 23:59:60", 1483228800 * SECOND},
        {"2261-12-31 00:00:00", INT64_C(9214560000000000000)},
        {"1678-01-01", INT64_C(-9214560000000000000)},
    };
    ASSERT_READ(sstrace_stamp_date, readings);
    static const char *const bad[] = {"", "2026-11-20 ", "2026-13-20", "2026-00-20", "2026-11-31",
        "2023-02-29", "2100-02-29", "2026-11-00", "2026-11/20", "26-11-20", "12026-11-20",
        "2026-11-20 24:00:00", "2026-11-20 14:60:00", "2026-11-20 14:50:61", "2026-11-20 14",
        "2026-11-20 14:50:29 +1", "2026-11-20 14:50:29+01:60", "2026-11-20 14:50:29+16",
        "2026-11-20 14:50:29 CET x", "2026-11-20 14:50:29.", "2026-11-20  14:50:29", "1677-12-31",
        "2262-01-01", "2026-11-20_14:50:29", NULL};
    assert_refused(sstrace_stamp_date, bad);
}

TEST(times_of_day_in_timestamps_are_read) {
    static const struct reading readings[] = {
        {"00:00:00", 0},
        {"23:59:59.5", 24 * HOUR - SECOND / 2},
        {"12:53:20 PM", 12 * HOUR + 3200 * SECOND},
        {"12:53:20 AM", 3200 * SECOND},
        {"01:00:00 pm", 13 * HOUR},
        {"11:00:00PM", 23 * HOUR},
        {"1:00:00 AM", HOUR},
    };
    ASSERT_READ(sstrace_stamp_time_of_day, readings);
    static const char *const bad[] = {
        "", "12:53", "24:00:00", "13:00:00 PM", "00:10:00 AM", "12:53:20 XM", "12:53:20 P", NULL};
    assert_refused(sstrace_stamp_time_of_day, bad);
}

TEST(time_of_day_that_wraps_begins_the_next_day) {
    static const struct reading readings[] = {
        {"23:59:50", 24 * HOUR - 10 * SECOND},
        {"00:00:00", 24 * HOUR},
        {"12:00:00", 36 * HOUR},
        /* A time one hour earlier is out of order, not on the next day. */
        {"11:00:00", 35 * HOUR},
        {"23:00:00", 47 * HOUR},
        {"01:00:00", 49 * HOUR},
    };
    struct sstrace_clock clock = {0};
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        int64_t ns;
        assert_true(sstrace_stamp_read(&clock, readings[i].text, strlen(readings[i].text), &ns));
        assert_int_equal(ns, readings[i].ns);
    }
}

TEST(timestamps_are_numbers_or_dates) {
    int64_t ns;
    struct sstrace_clock clock = {.unit = 1000000};
    assert_true(sstrace_stamp_read(&clock, "1500", 4, &ns));
    assert_int_equal(ns, 1500 * INT64_C(1000000));
    assert_true(sstrace_stamp_read(&clock, "1970-01-01 00:00:02", 19, &ns));
    assert_int_equal(ns, 2 * SECOND);
    assert_false(sstrace_stamp_read(&clock, "yesterday", 9, &ns));
}

TEST(dates_agree_with_the_c_library) {
    static const int years[] = {1678, 1700, 1900, 1970, 1999, 2000, 2023, 2024, 2100, 2261};
    for (size_t i = 0; i < sizeof years / sizeof *years; i++) {
        for (int month = 0; month <= 13; month++) {
            for (int day = 0; day <= 32; day++) {
                struct tm tm = {.tm_year = years[i] - 1900, .tm_mon = month - 1, .tm_mday = day};
                int64_t ns = 0, seconds = timegm(&tm);
                bool exists = tm.tm_mon == month - 1 && tm.tm_mday == day;
                char text[48];
                snprintf(text, sizeof text, "%04d-%02d-%02d", years[i], month, day);
                assert_int_equal(sstrace_stamp_date(text, strlen(text), &ns), exists);
                if (exists)
                    assert_int_equal(ns, seconds * INT64_C(1000000000));
            }
        }
    }
}

UNIT_RUN
