/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Measures the load of the machine independently of the program that holds it, in three ways at the
 * same times, and compares it with a target. usage() describes the options.
 */

#include "judge_look.h"

#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { INTERVALS_MAX = 8 };

static const char *const names[LOOK_MEASURES] = {"runtime", "idle", "ticks"};

/*
 * Sums of loads and errors over windows, as fractions, and the reading at the start of the current
 * window.
 */
struct figures {
    struct reading begun;
    double load, error, square, largest, peak; /* largest: error; peak: load */
    long windows;
};

struct interval {
    long milliseconds;
    long steps;          /* in units of the smallest interval */
    double time_begun;   /* start of the current window, in seconds since the start of the judge */
    double target_begun; /* integral of the target at that time */
    struct figures figures[LOOK_MEASURES];
};

static double seconds, start_at; /* start_at: wall clock; 0: at once */
static struct interval intervals[INTERVALS_MAX];
static int interval_count, smallest; /* smallest: index of the smallest interval */
static FILE *series;
static const char *group;
static bool residencies = true;
static volatile sig_atomic_t ended;

static void on_end(int signal) {
    ended = signal;
}

static void usage(FILE *file) {
    fputs("Usage: judge SECONDS INTERVAL_MS[,INTERVAL_MS...] [TARGET] [OPTION]...\n"
          "Watches the load of the machine and prints figures as JSON at the end, or at SIGTERM.\n"
          "TARGET is a load from 0 to 1; intervals are multiples of the smallest.\n\n"
          "  --trace FILE      lines TIME_SECONDS LOAD, linear in between, instead of a TARGET\n"
          "  --series FILE     a CSV with a row for each of the smallest windows\n"
          "  --group FOLDER    measure the run time of this control group, not of the machine\n"
          "  --stat            take idle time from /proc/stat, even if cpuidle counts it\n"
          "  --start-at EPOCH  begin at this wall-clock time, in seconds\n"
          "  --help            print this help\n",
        file);
}

struct point {
    double time;  /* seconds since the start */
    double load;  /* 0 to 1 */
    double until; /* integral of the target up to `time`, seconds */
};

static struct point *points;
static size_t point_count;

_Noreturn static void judge_fail(const char *what, const char *word) {
    fprintf(stderr, "judge: %s: %s\n", word, what);
    exit(125);
}

/* Adds a point; the target is linear between points. */
static void target_add(double time, double load) {
    points = realloc(points, (point_count + 1) * sizeof *points);
    if (points == NULL)
        judge_fail("no memory", "the trace");
    struct point *point = &points[point_count];
    *point = (struct point){time, load, time * load};
    if (point_count > 0) {
        const struct point *before = point - 1;
        if (time < before->time)
            judge_fail("times must not decrease", "the trace");
        point->until = before->until + (time - before->time) * (before->load + load) / 2;
    }
    point_count++;
}

/* Reads a file of lines TIME_SECONDS LOAD. */
static void target_read(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL)
        judge_fail("cannot be read", path);
    char line[256];
    double time, load;
    while (fgets(line, sizeof line, file) != NULL) {
        char *word = line + strspn(line, " \t\n");
        if (*word == '\0' || *word == '#')
            continue;
        if (sscanf(word, "%lf %lf", &time, &load) != 2 || !(load >= 0 && load <= 1 && time >= 0))
            judge_fail("expected TIME_SECONDS LOAD", line);
        target_add(time, load);
    }
    fclose(file);
    if (point_count == 0)
        judge_fail("an empty trace", path);
}

static bool target_is_given(void) {
    return point_count > 0;
}

/*
 * Returns the integral of the target from the start, in seconds; NAN without a target. The mean
 * target of a window is a difference of two such integrals.
 */
static double target_until(double time) {
    size_t after = 0;
    while (after < point_count && points[after].time <= time)
        after++;
    if (after == 0)
        return point_count == 0 ? NAN : time * points[0].load;
    const struct point *point = &points[after - 1];
    double passed = time - point->time, slope = 0;
    if (after < point_count)
        slope = (point[1].load - point->load) / (point[1].time - point->time);
    return point->until + passed * (point->load + slope * passed / 2);
}

static double parse(const char *word, double min, double max) {
    char *end;
    double number = strtod(word, &end);
    if (*word == '\0' || *end != '\0' || !(number >= min && number <= max))
        judge_fail("invalid number", word);
    return number;
}

static void parse_intervals(char *words) {
    for (char *word = strtok(words, ","); word != NULL; word = strtok(NULL, ",")) {
        if (interval_count == INTERVALS_MAX)
            judge_fail("too many intervals", word);
        struct interval *interval = &intervals[interval_count];
        interval->milliseconds = (long)parse(word, 1, 1e6);
        if (interval->milliseconds < intervals[smallest].milliseconds)
            smallest = interval_count;
        interval_count++;
    }
    for (int i = 0; i < interval_count; i++) {
        intervals[i].steps = intervals[i].milliseconds / intervals[smallest].milliseconds;
        if (intervals[i].milliseconds % intervals[smallest].milliseconds != 0)
            judge_fail("not a multiple of the smallest", "INTERVAL_MS");
    }
}

static void parse_words(int argc, char **argv) {
    static const struct option rows[] = {{"trace", required_argument, NULL, 't'},
        {"series", required_argument, NULL, 's'}, {"start-at", required_argument, NULL, 'a'},
        {"group", required_argument, NULL, 'g'}, {"stat", no_argument, NULL, 'i'},
        {"help", no_argument, NULL, 'h'}, {0}};
    for (int option; (option = getopt_long(argc, argv, "", rows, NULL)) != -1;) {
        if (option == 't' && !target_is_given())
            target_read(optarg);
        else if (option == 's' && (series = fopen(optarg, "w")) == NULL)
            judge_fail("cannot be written", optarg);
        else if (option == 'g')
            group = optarg;
        else if (option == 'i')
            residencies = false;
        else if (option == 'a')
            start_at = parse(optarg, 1, 1e12);
        else if (option != 's') {
            usage(option == 'h' ? stdout : stderr);
            exit(option == 'h' ? 0 : 125);
        }
    }
    int left = argc - optind;
    if (left < 2 || left > (target_is_given() ? 2 : 3)) {
        usage(stderr);
        exit(125);
    }
    seconds = parse(argv[optind], 0.001, 1e9);
    parse_intervals(argv[optind + 1]);
    if (left == 3)
        target_add(0, parse(argv[optind + 2], 0, 1));
}

static double clock_seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void sleep_until(clockid_t clock, double end) {
    struct timespec time = {.tv_sec = (time_t)end};
    time.tv_nsec = (long)((end - (double)time.tv_sec) * 1e9);
    while (!ended && clock_nanosleep(clock, TIMER_ABSTIME, &time, NULL) != 0)
        ;
}

/* Ends a window of one measure and begins the next one. Returns NAN if nothing was counted. */
static double close_window(struct figures *figure, const struct reading *reading, double target) {
    double all = reading->all - figure->begun.all;
    double load = all > 0 ? (reading->busy - figure->begun.busy) / all : NAN;
    double error = target - load;
    figure->begun = *reading;
    if (isnan(load))
        return NAN;
    figure->load += load;
    figure->error += error;
    figure->square += error * error;
    figure->largest = fmax(figure->largest, fabs(error));
    figure->peak = fmax(figure->peak, load);
    figure->windows++;
    return load;
}

static void write_cell(double value, char after) {
    if (series != NULL && !isnan(value))
        fprintf(series, "%.6f", value);
    if (series != NULL)
        fputc(after, series);
}

/* Ends the windows of one interval for all measures. */
static void close_interval(
    int interval, double time, const struct reading readings[LOOK_MEASURES]) {
    struct interval *of = &intervals[interval];
    double until = target_until(time);
    double target = (until - of->target_begun) / (time - of->time_begun);
    bool writing = interval == smallest;
    of->time_begun = time;
    of->target_begun = until;
    if (writing) {
        write_cell(time, ',');
        write_cell(target, ',');
    }
    for (int m = 0; m < LOOK_MEASURES; m++) {
        double load = close_window(&of->figures[m], &readings[m], target);
        if (writing)
            write_cell(look_has(m) ? load : NAN, m + 1 < LOOK_MEASURES ? ',' : '\n');
    }
}

/* Reads the counters until the end. Returns the duration in seconds. */
static double watch(void) {
    struct reading readings[LOOK_MEASURES];
    double step = (double)intervals[smallest].milliseconds / 1e3, time = 0;
    long past = 0, end = lround(seconds / step);
    if (series != NULL)
        fputs("elapsed_seconds,target,runtime,idle,ticks\n", series);
    double begun = clock_seconds(CLOCK_MONOTONIC);
    look_now(readings);
    for (int i = 0; i < interval_count; i++)
        for (int m = 0; m < LOOK_MEASURES; m++)
            intervals[i].figures[m].begun = readings[m];
    while (past < end) {
        sleep_until(CLOCK_MONOTONIC, begun + step * (double)(past + 1));
        if (ended)
            break;
        time = clock_seconds(CLOCK_MONOTONIC) - begun;
        look_now(readings);
        /* Missed windows become one long window. */
        long now = (long)fmax((double)past + 1, floor(time / step));
        for (int i = 0; i < interval_count; i++)
            if (now / intervals[i].steps != past / intervals[i].steps)
                close_interval(i, time, readings);
        past = now;
    }
    return time;
}

static void print_figure(const char *name, double value) {
    if (isfinite(value))
        printf("\"%s\": %.4f, ", name, value);
    else
        printf("\"%s\": null, ", name);
}

/* Prints one line per measure and interval, so that scripts can read line by line. */
static void print_summary(double watched) {
    printf("{\n  \"seconds\": %.3f,\n  \"cpus\": %d", watched, look_cpus());
    for (int m = 0; m < LOOK_MEASURES; m++) {
        for (int i = 0; i < interval_count; i++) {
            const struct figures *figure = &intervals[i].figures[m];
            double count = (double)figure->windows;
            printf(",\n  \"%s_%ld\": ", names[m], intervals[i].milliseconds);
            if (!look_has(m) || figure->windows == 0) {
                fputs("null", stdout);
                continue;
            }
            putchar('{');
            print_figure("load_percent", 100 * figure->load / count);
            print_figure("error_mean_percent", 100 * figure->error / count);
            print_figure("error_mse_e4", 1e4 * figure->square / count);
            print_figure("error_max_percent", target_is_given() ? 100 * figure->largest : NAN);
            print_figure("load_max_percent", 100 * figure->peak);
            printf("\"windows\": %ld}", figure->windows);
        }
    }
    puts("\n}");
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_end};
    parse_words(argc, argv);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    prctl(PR_SET_TIMERSLACK, 1UL);
    look_open(group, residencies);
    sleep_until(CLOCK_REALTIME, start_at);
    print_summary(watch());
    bool written = series == NULL || fclose(series) == 0;
    return fflush(stdout) == 0 && written ? 0 : 125;
}
