/* SPDX-License-Identifier: Apache-2.0 */
#include "run_plots.h"

#include <math.h>
#include <string.h>

#include "frame.h"
#include "gnuplot.h"
#include "overlay.h"

/* Maximum number of columns: more could not be distinguished. */
#define COLUMNS_MAX 800

#define BAND_POINTS 60

/* Maximum number of points of stacked areas. */
#define IDLE_COLUMNS_MAX 200

static double time_unit(const struct ssreport_run *run) {
    return plot_time_unit(ssreport_record_end(&run->record));
}

static void begin_over_time(FILE *script, const struct ssreport_run *run) {
    plot_begin_on_page(script);
    plot_axis_time(script, "time", ssreport_record_end(&run->record));
}

static bool has_samples(const struct ssreport_run *run) {
    return run->record.sample_count > 0;
}

static void write_over_time(FILE *script, const struct ssreport_run *run) {
    ssreport_overlay_run(script, run, SSREPORT_LOAD_PANEL, "load");
}

static bool has_errors(const struct ssreport_run *run) {
    return run->figures.samples > 0;
}

static void write_errors(FILE *script, const struct ssreport_run *run) {
    const struct ssreport_distribution *errors = &run->errors;
    double from = 0, to = 0;
    for (size_t i = 0; i < SSREPORT_BINS; i++) {
        if (errors->counts[i] == 0)
            continue;
        from = fmin(from, errors->from + ((double)i - 1) * errors->width);
        to = fmax(to, errors->from + ((double)i + 2) * errors->width);
    }
    plot_begin_on_page(script);
    plot_axis_between(script, 'x', "error (target minus load), %", from, to);
    plot_axis(script, 'y', "samples, %", PLOT_FROM_ZERO);
    fputs("$errors << END\n", script);
    for (size_t i = 0; i < SSREPORT_BINS; i++)
        fprintf(script, "%.9g %.9g\n", errors->from + ((double)i + 0.5) * errors->width,
            100.0 * (double)errors->counts[i] / (double)run->figures.samples);
    fprintf(script,
        "END\nset boxwidth %.9g\n"
        "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead lc rgb \"" PLOT_ORANGE "\" lw 1.3\n"
        "plot $errors using 1:2 with boxes lc rgb \"" PLOT_SKY "\" notitle, "
        "NaN with lines lw 1.3 lc rgb \"" PLOT_ORANGE "\" title \"mean\"\n",
        errors->width * 0.92, run->figures.error_mean_percent, run->figures.error_mean_percent);
}

static bool has_duties(const struct ssreport_run *run) {
    for (size_t i = 0; i < run->record.instance_room; i++) {
        if (run->record.instances[i].all.known > 0)
            return true;
    }
    return false;
}

/* Maximum number of fields: each is an element of the picture. */
#define FIELDS_MAX 720
#define ROWS_MAX   64

/* Values from 0 to 1 as colors, over time (x) and over numbered items (y). */
struct fields {
    const char *items, *value; /* labels of the axes */
    size_t count;              /* number of items */
    size_t parts;              /* number of equal parts of the run with values of their own */
    size_t columns;            /* maximum number of columns */
    /* Returns the mean of items `first` to `last` - 1 in parts `from` to `to` - 1; NaN if unknown.
     */
    double (*mean)(
        const struct ssreport_run *run, size_t first, size_t last, size_t from, size_t to);
};

/* With more items than ROWS_MAX, a row is the mean of neighboring items. */
static void write_fields(
    FILE *script, const struct ssreport_run *run, const struct fields *fields) {
    size_t rows = fields->count < ROWS_MAX ? fields->count : ROWS_MAX;
    size_t columns = fields->columns < fields->parts ? fields->columns : fields->parts;
    double part = ssreport_record_end(&run->record) / time_unit(run) / (double)fields->parts;
    begin_over_time(script, run);
    fprintf(script,
        "unset grid\nset ylabel \"%s\"\nset yrange [-0.5:%.9g]\nset cbrange [0:100]\n"
        "set cblabel \"%s\"\n" PLOT_GRADIENT "$fields << END\n",
        fields->items, (double)fields->count - 0.5, fields->value);
    for (size_t row = 0; row < rows; row++) {
        size_t first = row * fields->count / rows, last = (row + 1) * fields->count / rows;
        for (size_t i = 0; i < columns; i++) {
            size_t from = i * fields->parts / columns, to = (i + 1) * fields->parts / columns;
            double mean = fields->mean(run, first, last, from, to);
            if (isfinite(mean))
                fprintf(script, "%.6g %.6g %.6g %.6g %.4g\n", (double)from * part,
                    (double)to * part, (double)first - 0.5, (double)last - 0.5, 100 * mean);
        }
    }
    fprintf(script,
        "END\n%splot $fields using (($1+$2)/2):(($3+$4)/2):1:2:3:4:5 with boxxyerror "
        "lc palette notitle\n",
        fields->count <= 20 ? "set ytics 1\n" : "");
}

static double duty_of(
    const struct ssreport_run *run, size_t first, size_t last, size_t from, size_t to) {
    double running = 0, known = 0;
    for (size_t i = first; i < last; i++) {
        const struct ssreport_instance *instance = &run->record.instances[i];
        for (size_t part = from; instance->parts && part < to; part++) {
            running += instance->parts[part].running;
            known += instance->parts[part].known;
        }
    }
    return running / known;
}

static void write_duties_over_time(FILE *script, const struct ssreport_run *run) {
    size_t count = run->record.instance_room;
    size_t rows = count < ROWS_MAX ? count : ROWS_MAX;
    write_fields(script, run,
        &(struct fields){
            "instance", "duty, %", count, SSREPORT_DUTY_PARTS, FIELDS_MAX / rows, duty_of});
}

static double cpu_load_of(
    const struct ssreport_run *run, size_t first, size_t last, size_t from, size_t to) {
    double sum = 0, samples = 0;
    for (size_t cpu = first; cpu < last; cpu++) {
        for (size_t part = from; part < to; part++) {
            sum += (double)run->surroundings.cpus[cpu].parts[part].sum;
            samples += run->surroundings.cpus[cpu].parts[part].samples;
        }
    }
    return sum / samples;
}

static bool has_cpus(const struct ssreport_run *run) {
    double load = cpu_load_of(run, 0, run->surroundings.cpu_count, 0, SSREPORT_CPU_PARTS);
    return isfinite(load) && run->record.sample_count > 0;
}

/* A short run has fewer samples than parts: a column for each part would leave gaps. */
static void write_cpus(FILE *script, const struct ssreport_run *run) {
    write_fields(script, run,
        &(struct fields){"CPU", "load, %", run->surroundings.cpu_count, SSREPORT_CPU_PARTS,
            run->record.sample_count, cpu_load_of});
}

static bool has_runnable(const struct ssreport_run *run) {
    for (size_t i = 0; i < run->record.counters.count; i++) {
        if (isfinite(run->record.counters.seconds[i].runnable))
            return true;
    }
    return false;
}

static void write_runnable(FILE *script, const struct ssreport_run *run) {
    const struct ssreport_counters *counters = &run->record.counters;
    size_t width = counters->count / COLUMNS_MAX + 1;
    begin_over_time(script, run);
    plot_axis(script, 'y', "runnable threads", PLOT_FROM_ZERO);
    fputs("$runnable << END\n", script);
    for (size_t i = 0; i < counters->count; i += width) {
        size_t last = i + width < counters->count ? i + width - 1 : counters->count - 1;
        struct ssreport_counted counted = ssreport_counters_between(
            counters, counters->seconds[i].begin, counters->seconds[last].end);
        if (isfinite(counted.runnable))
            fprintf(script, "%.9g %.6g\n", counters->seconds[last].end / time_unit(run),
                counted.runnable);
    }
    fputs("END\n", script);
    if (run->record.cpu_count > 0)
        plot_line_at(script, 'y', run->record.cpu_count);
    fputs("plot $runnable using 1:2 with lines lw 1.2 lc rgb \"" PLOT_BLUE
          "\" title \"runnable threads of the machine\"\n",
        script);
}

static bool has_rates(const struct ssreport_run *run) {
    return run->rates.count > 1;
}

static void write_rates(FILE *script, const struct ssreport_run *run) {
    char name[40];
    snprintf(name, sizeof name, "intervals of %g s", run->rates.interval);
    ssreport_overlay_run(script, run, SSREPORT_THROUGHPUT_PANEL, name);
}

static bool has_points(const struct ssreport_run *run) {
    return run->record.has_iterations && run->least_load <= run->most_load;
}

static void write_against_load(FILE *script, const struct ssreport_run *run) {
    bool has_invalid = false;
    plot_begin_on_page(script);
    plot_axis_percent(script, 'x', "load observed, %", run->least_load, run->most_load);
    plot_axis(script, 'y', "throughput, /s", PLOT_FROM_ZERO);
    fputs("$points << END\n", script);
    for (size_t i = 0; i < run->fit.count; i++)
        fprintf(script, "%.9g %.9g\n", 100 * run->loads[i], run->throughputs[i]);
    fputs("END\n$line << END\n", script);
    for (int i = 0; i <= BAND_POINTS; i++) {
        double load = run->least_load + (run->most_load - run->least_load) * i / BAND_POINTS;
        struct ssreport_band band = ssreport_fit_at(&run->fit, load, run->confidence);
        fprintf(script, "%.9g %.9g %.9g %.9g\n", 100 * load, band.y, band.low, band.high);
    }
    fputs("END\n$curve << END\n", script);
    for (int i = 0; i <= BAND_POINTS && run->curve.count > 0; i++) {
        double load = run->curve.least + (run->curve.most - run->curve.least) * i / BAND_POINTS;
        struct ssreport_band band =
            ssreport_curve_at(&run->curve, fmin(load, run->curve.most), run->confidence);
        fprintf(script, "%.9g %.9g %.9g %.9g\n", 100 * load, band.y, band.low, band.high);
    }
    fputs("END\n$invalid << END\n", script);
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        has_invalid |= step->is_invalid;
        if (step->is_invalid)
            fprintf(script, "%.9g %.9g\n", 100 * step->load.mean, step->throughput);
    }
    fputs("END\nplot ", script);
    if (has_invalid)
        fputs("$invalid using 1:2 with " PLOT_RINGS " title \"invalid runs\", ", script);
    if (isfinite(run->fit.slope_error))
        fprintf(script,
            "$line using 1:3:4 with filledcurves " PLOT_SHADED " lc rgb \"" PLOT_ORANGE
            "\" title \"%g %% band\", ",
            100 * run->confidence);
    if (run->curve.count > 0)
        fputs("$curve using 1:3:4 with filledcurves " PLOT_SHADED " lc rgb \"" PLOT_GREEN
              "\" notitle, $curve using 1:2 with lines lw 1.5 lc rgb \"" PLOT_GREEN
              "\" title \"local\", ",
            script);
    if (isfinite(run->fit.slope))
        fputs("$line using 1:2 with lines lw 1.3 lc rgb \"" PLOT_ORANGE
              "\" title \"least squares\", ",
            script);
    fprintf(script,
        "$points using 1:2 with points pt 7 ps 0.5 lc rgb \"" PLOT_BLUE "\" title \"%s\"\n",
        run->fits_steps ? "steps" : "intervals");
}

/* If two runs side by side share the power, only the background has a picture. */
static bool has_power(const struct ssreport_run *run) {
    return run->energy.count > 1 &&
           !(run->energy.shared && run->role && strcmp(run->role, "foreground") == 0);
}

static void write_power(FILE *script, const struct ssreport_run *run) {
    ssreport_overlay_run(script, run, SSREPORT_POWER_PANEL, "power");
}

static bool has_idle(const struct ssreport_run *run) {
    return run->idle.count > 1 && run->idle.state_count > 0 &&
           !(run->role && strcmp(run->role, "foreground") == 0);
}

/* Writes the upper edges of the areas of a stack, in percent: active, then each state. */
static void write_stack(FILE *script, const struct ssreport_residency *residency, size_t states) {
    double edge = 100 * residency->active.mean;
    fprintf(script, " %.6g", edge);
    for (size_t i = 0; i < states; i++) {
        double part = residency->states[i].residency;
        edge += isfinite(part) ? 100 * part : 0;
        fprintf(script, " %.6g", edge);
    }
}

static void write_idle(FILE *script, const struct ssreport_run *run) {
    const struct ssreport_idle *idle = &run->idle;
    double unit = time_unit(run), wall = run->record.wall;
    size_t step = idle->count / IDLE_COLUMNS_MAX + 1;
    begin_over_time(script, run);
    plot_axis_between(script, 'y', "part of the time, %", 0, 100);
    fputs("set key outside top center horizontal\n$idle << END\n", script);
    for (size_t i = 0; i < idle->count; i += step) {
        size_t last = i + step < idle->count ? i + step - 1 : idle->count - 1;
        double at = idle->seconds[last].at;
        struct ssreport_residency residency;
        if (!(at >= wall) || at > wall + ssreport_record_end(&run->record) ||
            ssreport_idle_between(idle, idle->seconds[i].at - 1e-6, at, &residency) < 0 ||
            !isfinite(residency.active.mean))
            continue;
        fprintf(script, "%.9g", (at - wall) / unit);
        write_stack(script, &residency, idle->state_count);
        fputc('\n', script);
    }
    fputs("END\nplot ", script);
    for (size_t i = idle->state_count; i > 0; i--) {
        fprintf(script,
            "$idle using 1:%zu:%zu with filledcurves " PLOT_HALF " lc rgb \"%s\" title ", i + 1,
            i + 2, plot_series_color(i));
        plot_quote(script, idle->states[i - 1], 20);
        fputs(", ", script);
    }
    fputs("$idle using 1:(0):2 with filledcurves " PLOT_HALF " lc rgb \"" PLOT_BLUE
          "\" title \"active\"\n",
        script);
}

const struct ssreport_plot ssreport_plots[] = {
    {"Target and load", has_samples, write_over_time},
    {"Errors of the samples", has_errors, write_errors},
    {"Duty of each instance over time", has_duties, write_duties_over_time},
    {"Load of each CPU over time", has_cpus, write_cpus},
    {"Runnable threads over time; dashed: number of CPUs", has_runnable, write_runnable},
    {"Throughput over time", has_rates, write_rates},
    {"Throughput against load", has_points, write_against_load},
    {"Power", has_power, write_power},
    {"Idle states of the CPUs", has_idle, write_idle},
    {NULL, NULL, NULL},
};
