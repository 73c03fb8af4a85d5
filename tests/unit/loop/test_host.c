/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/module_set.h"
#include "unit.h"

/* A load in CPUs is a different fraction of a run on fewer CPUs. */
TEST(loads_in_cpus_are_relative_to_the_cpus_of_the_run) {
    struct ss_host host = ss_host;
    struct ss_error error = {0};
    double load = 7, loads[2] = {0};
    assert_that(host.cpus, ==, 0);
    assert_fails(host.parse_load(&host, "0.5cpu", &load, &error), error, "");
    assert_int_equal(host.parse_load(&host, "50%", &load, &error), 0);
    assert_near(load, 0.5, 1e-12);
    host.cpus = 4;
    assert_int_equal(host.parse_load(&host, "0.5cpu", &load, &error), 0);
    assert_near(load, 0.125, 1e-12);
    assert_int_equal(host.parse_loads(&host, "1cpu:50%", ':', loads, 2, &error), 0);
    assert_near(loads[0], 0.25, 1e-12);
    assert_near(loads[1], 0.5, 1e-12);
    host.cpus = 2;
    assert_int_equal(host.parse_load(&host, "0.5cpu", &load, &error), 0);
    assert_near(load, 0.25, 1e-12);
}

UNIT_RUN
