/* SPDX-License-Identifier: Apache-2.0 */
#include "base/openmetrics.h"

#include "text.h"

static const struct ss_metric load = {
    "a_load_ratio", "ratio", SS_METRIC_GAUGE, "Load of the latest sample"};
static const struct ss_metric switches = {"a_switches", NULL, SS_METRIC_COUNTER, "Stops"};

static const char *const no_labels[] = {NULL};

static struct ss_metrics metrics;

static int begin(void **state) {
    (void)state;
    metrics = (struct ss_metrics){.stream = text_begin()};
    return 0;
}

static void assert_written(const char *expected) {
    assert_string_equal(text_end(), expected);
}

TEST_WITH(values_of_a_metric_share_one_heading, begin, NULL) {
    ss_metrics_put(&metrics, &load, (const char *[]){"index", "0", NULL}, 0.25);
    ss_metrics_put(&metrics, &load, (const char *[]){"index", "1", "side", "a", NULL}, 1);
    ss_metrics_put(&metrics, &switches, no_labels, 12345678901);
    ss_metrics_end(&metrics);
    assert_written("# TYPE a_load_ratio gauge\n"
                   "# UNIT a_load_ratio ratio\n"
                   "# HELP a_load_ratio Load of the latest sample\n"
                   "a_load_ratio{index=\"0\"} 0.25\n"
                   "a_load_ratio{index=\"1\",side=\"a\"} 1\n"
                   "# TYPE a_switches counter\n"
                   "# HELP a_switches Stops\n"
                   "a_switches_total 12345678901\n"
                   "# EOF\n");
}

TEST_WITH(metric_without_values_is_omitted, begin, NULL) {
    ss_metrics_put(&metrics, &load, no_labels, NAN);
    ss_metrics_end(&metrics);
    assert_written("# EOF\n");
}

TEST_WITH(label_values_are_escaped, begin, NULL) {
    ss_metrics_put(
        &metrics, &switches, (const char *[]){"path", "a\"b\\x2d\n\xc3\xa4\xff", NULL}, 0);
    assert_written("# TYPE a_switches counter\n"
                   "# HELP a_switches Stops\n"
                   "a_switches_total{path=\"a\\\"b\\\\x2d\\n\xc3\xa4\xef\xbf\xbd\"} 0\n");
}

UNIT_RUN
