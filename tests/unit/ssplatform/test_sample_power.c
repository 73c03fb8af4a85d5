/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "sample_power.h"
#include "text.h"
#include "tree.h"

#define SENSOR "sys/class/hwmon/hwmon0/power1_input"

static const char *next_power; /* value after the next sleep; NULL if the sensor disappears */

int nanosleep(const struct timespec *length, struct timespec *left) {
    (void)length;
    (void)left;
    if (next_power)
        tree_write(SENSOR, next_power);
    else
        remove(tree_path(SENSOR));
    return 0;
}

/* Returns the cell of a sample that is taken `spent` after the previous one. */
static const char *sample(struct sample_power *power, ss_time spent) {
    const struct sample_source source = sample_power_source(power);
    source.print_sample(text_begin(), source.source, spent);
    return text_end();
}

static void write_package(const char *zone, const char *name, const char *energy) {
    char path[128];
    snprintf(path, sizeof path, "sys/class/powercap/%s/name", zone);
    tree_write(path, name);
    snprintf(path, sizeof path, "sys/class/powercap/%s/energy_uj", zone);
    tree_write(path, energy);
}

/* Counts package domains, not their parts. */
TEST(power_is_summed_over_packages) {
    struct sample_power power;
    const char *root = tree_new();
    write_package("intel-rapl:0", "package-0\n", "1000000\n");
    write_package("intel-rapl:0:0", "core\n", "1000000\n");
    write_package("intel-rapl:1", "package-1\n", "1000000\n");
    write_package("intel-rapl:2", "psys\n", "1000000\n");
    assert_true(sample_power_find(&power, "auto", root));
    assert_string_equal(power.scope, "rapl: CPU packages only (package-0 package-1)");
    assert_string_equal(sample(&power, 0), "");
    write_package("intel-rapl:1", "package-1\n", "2001000000\n");
    assert_string_equal(sample(&power, 200 * SS_SECOND), "10");
    sample_power_free(&power);
}

/* Restarts the power of one package, whose counter is at 7 J. */
static void begin_at_7_joules(struct sample_power *power, const char *range) {
    const char *root = tree_new();
    write_package("intel-rapl:0", "package-0\n", "7000000\n");
    if (range)
        tree_write("sys/class/powercap/intel-rapl:0/max_energy_range_uj", range);
    assert_true(sample_power_find(power, "rapl", root));
    assert_string_equal(sample(power, 0), "");
}

TEST(power_is_correct_when_an_energy_counter_wraps) {
    struct sample_power power;
    begin_at_7_joules(&power, "8000000\n");
    write_package("intel-rapl:0", "package-0\n", "500000\n");
    assert_string_equal(sample(&power, SS_SECOND), "1.5");
    sample_power_free(&power);
}

TEST(reset_counter_leaves_a_second_without_power) {
    static const char *const ranges[] = {NULL, "15000000\n"};
    for (size_t i = 0; i < 2; i++) {
        struct sample_power power;
        begin_at_7_joules(&power, ranges[i]);
        write_package("intel-rapl:0", "package-0\n", "5\n");
        assert_string_equal(sample(&power, SS_SECOND), "");
        write_package("intel-rapl:0", "package-0\n", "1500005\n");
        assert_string_equal(sample(&power, SS_SECOND), "1.5");
        sample_power_free(&power);
    }
}

/* Otherwise the energy of two seconds would count for one. */
TEST(second_after_an_unreadable_counter_has_no_power) {
    struct sample_power power;
    begin_at_7_joules(&power, NULL);
    write_package("intel-rapl:0", "package-0\n", "unreadable\n");
    assert_string_equal(sample(&power, SS_SECOND), "");
    write_package("intel-rapl:0", "package-0\n", "9000000\n");
    assert_string_equal(sample(&power, SS_SECOND), "");
    write_package("intel-rapl:0", "package-0\n", "10500000\n");
    assert_string_equal(sample(&power, SS_SECOND), "1.5");
    sample_power_free(&power);
}

TEST(sensor_reports_its_scope) {
    struct sample_power power;
    const char *root = tree_new();
    tree_write("sys/class/hwmon/hwmon3/power1_input", "42000000\n");
    tree_write("sys/class/hwmon/hwmon3/name", "power_meter\n");
    assert_true(sample_power_find(&power, "hwmon", root));
    assert_string_equal(power.scope, "hwmon: the whole machine (power_meter)");
    assert_string_equal(sample(&power, SS_SECOND), "42");
    sample_power_free(&power);
    tree_write("sys/class/hwmon/hwmon3/name", "amdgpu\n");
    assert_true(sample_power_find(&power, "auto", root));
    assert_string_equal(power.scope, "hwmon: parts measured by sensor amdgpu");
    sample_power_free(&power);
}

/* The power of a second is sampled at its end; the sample at its beginning must not remain. */
TEST(mean_power_comes_from_the_last_sample) {
    struct sample_power power;
    const char *root = tree_new();
    tree_write(SENSOR, "100000000\n");
    assert_true(sample_power_find(&power, "hwmon", root));
    next_power = "99000000\n";
    assert_true(sample_power_mean(&power, 1) == 99);
    next_power = NULL;
    assert_true(isnan(sample_power_mean(&power, 1)));
    sample_power_free(&power);
}

TEST(battery_power_counts_only_while_discharging) {
    struct sample_power power;
    const char *root = tree_new();
    tree_write("sys/class/power_supply/AC/type", "Mains\n");
    tree_write("sys/class/power_supply/BAT0/type", "Battery\n");
    tree_write("sys/class/power_supply/BAT0/status", "Charging\n");
    tree_write("sys/class/power_supply/BAT0/current_now", "-500000\n");
    tree_write("sys/class/power_supply/BAT0/voltage_now", "12000000\n");
    assert_false(sample_power_find(&power, "battery", root));
    tree_write("sys/class/power_supply/BAT0/status", "Discharging\n");
    assert_true(sample_power_find(&power, "battery", root));
    assert_string_equal(sample(&power, SS_SECOND), "6");
    tree_write("sys/class/power_supply/BAT0/power_now", "7500000\n");
    assert_string_equal(sample(&power, SS_SECOND), "7.5");
    sample_power_free(&power);
}

TEST(a_command_prints_watts_in_its_first_line) {
    static const struct {
        const char *command, *cell;
    } cases[] = {{"echo 7.5; echo 8", "7.5"}, {"echo 12", "12"}, {"echo 12W", ""},
        {"echo 3; false", ""}, {"echo 'x\"'", ""}, {"echo", ""}, {"echo 3.", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample_power power;
        assert_true(sample_power_find(&power, cases[i].command, "/nowhere"));
        assert_string_equal(sample(&power, SS_SECOND), cases[i].cell);
        assert_string_equal(sample(&power, 0), "");
        sample_power_free(&power);
    }
    struct sample_power power;
    assert_true(sample_power_find(&power, "echo 1", "/"));
    assert_string_equal(power.scope, "command: what it measures (echo 1)");
    assert_false(sample_power_find(&power, "rapl", "/nowhere"));
    assert_false(sample_power_find(&power, "auto", "/nowhere"));
}

/* A source that needs 2.5 s has a sample every third second. */
TEST(missed_samples_are_skipped) {
    const ss_time last = 100 * SS_SECOND;
    assert_int_equal(sample_due(last, last), last + SS_SECOND);
    assert_int_equal(sample_due(last, last + SS_SECOND - 1), last + SS_SECOND);
    assert_int_equal(sample_due(last, last + SS_SECOND), last + 2 * SS_SECOND);
    assert_int_equal(sample_due(last, last + 5 * SS_SECOND / 2), last + 3 * SS_SECOND);
}

UNIT_RUN
