/* SPDX-License-Identifier: Apache-2.0 */
#include "gnuplot.h"

#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "words.h"

#define TICKS_MOST    12
#define TITLE_LETTERS 110 /* what fits into the width */

extern char **environ;

/* The unit of the time axis, for lengths of less than `below`; so marks are no odd parts of it. */
static const struct unit {
    const char *name;
    ss_time length, below;
} units[] = {
    {"nanoseconds", 1, 3 * SS_MICROSECOND},
    {"microseconds", SS_MICROSECOND, 3 * SS_MILLISECOND},
    {"milliseconds", SS_MILLISECOND, 3 * SS_SECOND},
    {"seconds", SS_SECOND, 360 * SS_SECOND},
    {"minutes", 60 * SS_SECOND, 6 * 3600 * SS_SECOND},
    {"hours", 3600 * SS_SECOND, 3 * 86400 * SS_SECOND},
    {"days", 86400 * SS_SECOND, SS_TIME_NEVER},
};

static const struct unit *choose_unit(ss_time length) {
    const struct unit *unit = length == 0 ? &units[3] : units;
    while (unit->below != SS_TIME_NEVER && length >= unit->below)
        unit++;
    return unit;
}

/* How many bytes a letter of UTF-8 takes; 0: it is none, or one that pictures cannot hold. */
static size_t letter_length(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    size_t length = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    if (length == 0 || *at > 0xf4 || *at < ' ' || *at == 0x7f)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xf0 && at[1] < 0x90);
    bool surrogate = *at == 0xed && at[1] >= 0xa0;
    bool beyond = (*at == 0xf4 && at[1] >= 0x90) || (*at == 0xc2 && at[1] < 0xa0) ||
                  (*at == 0xef && at[1] == 0xbf && at[2] >= 0xbe);
    return overlong || surrogate || beyond ? 0 : length;
}

/*
 * In double quotes, each byte as its number: so no letter means anything to gnuplot. What is not
 * UTF-8 would spoil an SVG.
 */
static void write_quoted(FILE *script, const char *text) {
    fputc('"', script);
    size_t letters = 0;
    for (; *text && letters < TITLE_LETTERS; letters++) {
        size_t length = letter_length(text);
        if (length == 0)
            fputc('?', script);
        for (size_t i = 0; i < length; i++)
            fprintf(script, "\\%03o", (unsigned char)text[i]);
        text += length > 0 ? length : 1;
    }
    fputs(*text ? "...\"" : "\"", script);
}

static void write_frame(FILE *script, const char *kind, ss_time length, const char *title) {
    const struct unit *unit = choose_unit(length);
    ss_time step = sstrace_plot_step_after(0);
    while (step > 0 && length / step > TICKS_MOST)
        step = sstrace_plot_step_after(step);
    fputs("set encoding utf8\n", script);
    if (strcmp(kind, "svg") == 0)
        fputs("set terminal svg noenhanced size 1100,440 font \"sans-serif,14\" "
              "background rgb \"white\"\n",
            script);
    else
        fputs("if (strstrt(GPVAL_TERMINALS, \" pngcairo \")) "
              "set terminal pngcairo noenhanced size 1100,440 font \"Sans,11\"; "
              "else set terminal png noenhanced size 1100,440\n",
            script);
    if (title) {
        fputs("set title ", script);
        write_quoted(script, title);
        fputs(" noenhanced\n", script);
    }
    fprintf(script,
        "set xlabel \"time in %s\"\nset xrange [0:%.17g]\nset xtics 0,%.17g out nomirror\n"
        "set ylabel \"load\"\nset yrange [0:100]\nset ytics 0,25 format \"%%g %%%%\" out nomirror\n"
        "set grid ytics lc rgb \"#d0d0d0\" lt 1 lw 0.5\n"
        "set key bmargin center horizontal samplen 2 width -3 noenhanced\nset bmargin 6\nset "
        "border 3\n",
        unit->name, length > 0 ? (double)length / (double)unit->length : 1.0,
        length > 0 && step > 0 ? (double)step / (double)unit->length : 2.0);
}

static void write_point(FILE *script, double at, const struct sstrace_column *column) {
    fprintf(script, "%.17g %.6g %.6g %.6g\n", at, column->least * 100, column->largest * 100,
        sstrace_column_mean(column) * 100);
}

static bool is_drawn(const struct sstrace_columns *columns, size_t i) {
    return i < columns->count && columns->items[i].controlled > 0;
}

/* In the middle of each column; at the ends of what holds together, at its edge, too. */
static bool write_loads(FILE *script, const struct sstrace_columns *columns, double width) {
    bool any = false;
    fputs("$load << END\n", script);
    for (size_t i = 0; i < columns->count; i++) {
        const struct sstrace_column *column = &columns->items[i];
        if (!is_drawn(columns, i))
            continue;
        any = true;
        if (i == 0 || !is_drawn(columns, i - 1))
            write_point(script, (double)i * width, column);
        write_point(script, ((double)i + 0.5) * width, column);
        if (is_drawn(columns, i + 1))
            continue;
        write_point(script, ((double)i + 1) * width, column);
        fputc('\n', script);
    }
    fputs("END\n", script);
    return any;
}

static bool write_stretches(FILE *script, const struct sstrace_columns *columns, double width) {
    bool any = false;
    fputs("$free << END\n", script);
    for (size_t i = 0; i < columns->count; i++) {
        size_t first = i;
        while (i < columns->count && columns->items[i].free > 0)
            i++;
        if (i == first)
            continue;
        any = true;
        fprintf(script, "%.17g 100 %.17g\n", (double)(first + i) / 2 * width,
            (double)(i - first) * width);
    }
    fputs("END\n", script);
    return any;
}

static void write_script(FILE *script, const char *kind, const struct sstrace_columns *columns,
    ss_time length, const char *title) {
    double all = length > 0 ? (double)length / (double)choose_unit(length)->length : 1;
    write_frame(script, kind, length, title);
    bool free = write_stretches(script, columns, all / (double)columns->count);
    bool load = write_loads(script, columns, all / (double)columns->count);
    fputs("plot ", script);
    if (free)
        fprintf(script,
            "$free using 1:2:3 with boxes fill solid noborder lc rgb \"#dcdcdc\" title \"free\"%s",
            load ? ", " : "");
    if (load)
        fputs("$load using 1:2:3 with filledcurves lc rgb \"#a9cbe8\" title \"least to largest\", "
              "$load using 1:4 with lines lw 1.5 lc rgb \"#1f5f9f\" title \"mean\"",
            script);
    if (!free && !load)
        fputs("NaN notitle", script);
    fputc('\n', script);
}

/* Of what gnuplot wrote; it quotes what it was given before it says what is wrong with that. */
static void read_complaint(FILE *file, char *complaint, size_t size) {
    char line[512];
    *complaint = '\0';
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        const char *from = line;
        while (isspace((unsigned char)*from))
            from++;
        bool named = strncmp(from, "line ", 5) == 0 || strstr(from, "\" line ");
        line[strcspn(line, "\n")] = '\0';
        if (*from && (named || !*complaint))
            snprintf(complaint, size, "%s", ss_words_show(from).text);
        if (named)
            return;
    }
}

/* Files and no pipes: so nobody waits for anybody, and nobody is killed by SIGPIPE. */
static int run(FILE *script, FILE *output, FILE *complaints, struct ss_error *error) {
    char *const arguments[] = {
        (char *)"gnuplot", (char *)"-d", NULL}; /* no settings of the user's */
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ss_error_set(error, SS_TRACE_STATUS, "no memory to start gnuplot");
    posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(complaints), STDERR_FILENO);
    pid_t child;
    int failure = posix_spawnp(&child, "gnuplot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0)
        return ss_error_set(error, SS_TRACE_STATUS,
            "gnuplot, which draws the picture, cannot be started: %s: install gnuplot (in Debian "
            "the package gnuplot-nox)",
            strerror(failure));
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return ss_error_set(error, SS_TRACE_STATUS, "gnuplot was lost: %s", strerror(errno));
    }
    if (status == 0)
        return 0;
    char complaint[256];
    read_complaint(complaints, complaint, sizeof complaint);
    return ss_error_set(error, SS_TRACE_STATUS,
        "gnuplot could not draw the picture: %s: a newer one may do (in Debian the package "
        "gnuplot-nox)",
        *complaint            ? complaint
        : WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                              : "no reason");
}

static int draw(FILE *script, FILE *complaints, FILE *stream, struct ss_error *error) {
    off_t before = lseek(fileno(stream), 0, SEEK_CUR);
    if (fflush(script) != 0 || ferror(script) || lseek(fileno(script), 0, SEEK_SET) != 0)
        return ss_error_set(
            error, SS_TRACE_STATUS, "no room for what gnuplot shall do: %s", strerror(errno));
    if (run(script, stream, complaints, error) != 0)
        return -1;
    if (fseeko(stream, 0, SEEK_END) != 0 || ftello(stream) <= before)
        return ss_error_set(
            error, SS_TRACE_STATUS, "gnuplot has drawn nothing: is it what 'gnuplot' starts here?");
    return 0;
}

int sstrace_plot_picture(FILE *stream, const char *kind, const struct sstrace_columns *columns,
    ss_time length, const char *title, struct ss_error *error) {
    if (strcmp(kind, "svg") != 0 && strcmp(kind, "png") != 0)
        return ss_error_set(error, SS_TRACE_STATUS,
            "'%s' is no kind of picture that can be drawn: svg or png", ss_words_show(kind).text);
    FILE *script = tmpfile(), *complaints = tmpfile();
    int result = -1;
    if (!script || !complaints || fflush(stream) != 0) {
        ss_error_set(error, SS_TRACE_STATUS, "no temporary file for gnuplot: %s", strerror(errno));
    } else {
        write_script(script, kind, columns, length, title);
        result = draw(script, complaints, stream, error);
    }
    if (script)
        fclose(script);
    if (complaints)
        fclose(complaints);
    return result;
}
