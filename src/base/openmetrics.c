/* SPDX-License-Identifier: Apache-2.0 */
#include "base/openmetrics.h"

#include <math.h>

#include <showstopper/letter.h>

#include "base/number.h"

static void put_heading(FILE *stream, const struct ss_metric *metric) {
    const char *type = metric->type == SS_METRIC_COUNTER ? "counter" : "gauge";
    fprintf(stream, "# TYPE %s %s\n", metric->name, type);
    if (metric->unit)
        fprintf(stream, "# UNIT %s %s\n", metric->name, metric->unit);
    fprintf(stream, "# HELP %s %s\n", metric->name, metric->help);
}

static void put_label_value(FILE *stream, const char *value) {
    fputc('"', stream);
    for (const char *at = value; *at;) {
        int length = ss_letter_length(at);
        if (*at == '\n')
            fputs("\\n", stream);
        else if (*at == '"' || *at == '\\')
            fprintf(stream, "\\%c", *at);
        else if (length == 0)
            fputs("\xef\xbf\xbd", stream); /* the replacement character */
        else
            fwrite(at, 1, (size_t)length, stream);

        at += length ? length : 1;
    }

    fputc('"', stream);
}

static void put_labels(FILE *stream, const char *const *labels) {
    for (size_t i = 0; labels[i]; i += 2) {
        fprintf(stream, "%c%s=", i == 0 ? '{' : ',', labels[i]);
        put_label_value(stream, labels[i + 1]);
    }
    if (labels[0])
        fputc('}', stream);
}

void ss_metrics_put(struct ss_metrics *metrics, const struct ss_metric *metric,
    const char *const *labels, double value) {
    char number[SS_NUMBER_SIZE];
    if (isnan(value))
        return;

    if (metrics->last != metric)
        put_heading(metrics->stream, metric);
    metrics->last = metric;

    fprintf(
        metrics->stream, "%s%s", metric->name, metric->type == SS_METRIC_COUNTER ? "_total" : "");
    put_labels(metrics->stream, labels);
    ss_number_put(number, value);
    fprintf(metrics->stream, " %s\n", number);
}

void ss_metrics_end(struct ss_metrics *metrics) {
    fputs("# EOF\n", metrics->stream);
}
