/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plot_columns.h"
#include "trace_picture.h"

/* Replaces PATH with a folder that holds a fake gnuplot, or none. */
struct stage {
    char folder[128];
    char program[160];
    char *path;
};

static struct stage set_stage(const char *script) {
    struct stage stage = {.path = strdup(getenv("PATH"))};
    const char *temporary = getenv("TMPDIR"); /* /tmp may forbid programs */
    snprintf(stage.folder, sizeof stage.folder, "%s/test_gnuplot.XXXXXX",
        temporary && *temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(stage.folder));
    snprintf(stage.program, sizeof stage.program, "%s/gnuplot", stage.folder);
    if (script) {
        FILE *file = fopen(stage.program, "w");
        assert_non_null(file);
        fprintf(file, "#!/bin/sh\nPATH='%s'\n%s\n", stage.path, script);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(chmod(stage.program, 0700), 0);
    }
    assert_int_equal(setenv("PATH", stage.folder, 1), 0);
    return stage;
}

static void clear_stage(struct stage *stage) {
    setenv("PATH", stage->path, 1);
    free(stage->path);
    unlink(stage->program);
    rmdir(stage->folder);
}

/* Reads the whole output and terminates it with a 0 byte. */
static char *read_all(FILE *stream, size_t *size) {
    *size = (size_t)ftello(stream);
    char *text = calloc(*size + 1, 1);
    assert_non_null(text);
    rewind(stream);
    assert_int_equal(fread(text, 1, *size, stream), *size);
    return text;
}

static char *draw_sized(const char *kind, const char *trace, ss_time length, size_t count,
    const char *title, size_t *size) {
    struct sstrace_columns columns = make(trace, length, count);
    struct ss_error error = {0};
    FILE *stream = tmpfile();
    assert_non_null(stream);
    if (sstrace_plot_picture(stream, kind, &columns, title, &error) != 0)
        fail_msg("%s", error.message);
    char *text = read_all(stream, size);
    fclose(stream);
    sstrace_columns_close(&columns);
    return text;
}

/* Returns the script that a fake gnuplot received. */
static char *script_for(const char *trace, ss_time length, size_t count, const char *title) {
    struct stage stage = set_stage("echo \"$@\"; exec cat");
    size_t size;
    char *text = draw_sized("svg", trace, length, count, title, &size);
    clear_stage(&stage);
    assert_memory_equal(text, "-d\n", 3);
    return text;
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
}

static void assert_has_not(const char *text, const char *part) {
    if (strstr(text, part))
        fail_msg("unexpected '%s' in:\n%s", part, text);
}

/* Fails unless drawing fails with a one-line message that contains `part`. */
static void assert_fails(const char *script, const char *kind, const char *part) {
    struct stage stage = set_stage(script);
    struct sstrace_columns columns = make("0 0\n10s 1\n", 10 * SS_SECOND, 1000);
    struct ss_error error = {0};
    FILE *stream = tmpfile();
    assert_non_null(stream);
    assert_int_equal(sstrace_plot_picture(stream, kind, &columns, "title", &error), -1);
    assert_int_equal(error.status, SS_ERROR_FAILED);
    assert_has(error.message, part);
    assert_has_not(error.message, "\n");
    fclose(stream);
    sstrace_columns_close(&columns);
    clear_stage(&stage);
}

static void missing_gnuplot_error_names_the_package(void **state) {
    (void)state;
    assert_fails(NULL, "svg", "No such file or directory: install gnuplot");
    assert_fails("exit 127", "svg", "gnuplot-nox");
}

static void gnuplot_errors_are_forwarded(void **state) {
    (void)state;
    static const char complain[] =
        "cat >/dev/null; printf '\\n\\ngnuplot> %s\\n     ^\\n"
        "         line 0: no such %s\\n\\n line 1: more\\n' word thing >&2; exit 1";
    assert_fails(complain, "png", "picture: line 0: no such thing: ");
    assert_fails("echo >&2; echo '  only this' >&2; exit 3", "png", "picture: only this: ");
    assert_fails("exit 1", "png", "picture: unknown reason: ");
    assert_fails("kill -9 $$", "png", "picture: Killed: ");
}

static void empty_output_of_gnuplot_is_an_error(void **state) {
    (void)state;
    assert_fails("exit 0", "svg", "drew nothing");
}

static void unknown_picture_formats_are_refused(void **state) {
    (void)state;
    assert_fails("echo picture", "pdf", "'pdf'");
}

static void picture_is_appended_to_earlier_output(void **state) {
    (void)state;
    struct stage stage = set_stage("cat >/dev/null; echo picture");
    struct sstrace_columns columns = make("0 0\n", 0, 10);
    FILE *stream = tmpfile();
    fputs("before\n", stream);
    assert_int_equal(sstrace_plot_picture(stream, "svg", &columns, NULL, NULL), 0);
    fputs("behind\n", stream);
    size_t size;
    char *text = read_all(stream, &size);
    assert_string_equal(text, "before\npicture\nbehind\n");
    free(text);
    fclose(stream);
    sstrace_columns_close(&columns);
    clear_stage(&stage);
}

static void titles_are_escaped_for_gnuplot(void **state) {
    (void)state;
    char *script = script_for("0 0\n", 0, 2, "a\"'`@$\\{}\n\xc3\xa4\xff\xe2\x82Z");
    assert_has(script,
        "set title \"\\141\\042\\047\\140\\100\\044\\134\\173\\175?\\303\\244???\\132\""
        " noenhanced\n");
    free(script);
    /* Malformed UTF-8 and characters that SVG forbids: each byte becomes a question mark. */
    static const char *const bad[] = {"\xc1\xa0", "\xe0\x80\x80", "\xed\xa0\x80", "\xef\xbf\xbf",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc2\x80", "\x7f", "\x1b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char marks[32];
        snprintf(marks, sizeof marks, "title \"%.*s\" ", (int)strlen(bad[i]), "????");
        script = script_for("0 0\n", 0, 2, bad[i]);
        assert_has(script, marks);
        free(script);
    }
    script = script_for("0 0\n", 0, 2, "\xef\xbf\xbd\xf0\x9f\x98\x80");
    assert_has(script, "title \"\\357\\277\\275\\360\\237\\230\\200\" ");
    free(script);
    script = script_for("0 0\n", 0, 2, NULL);
    assert_has_not(script, "set title");
    free(script);
}

static void long_picture_titles_are_truncated(void **state) {
    (void)state;
    char title[1001] = "";
    for (size_t i = 0; i < 500; i++)
        strcat(title, "\xc3\xa4");
    char *script = script_for("0 0\n", 0, 2, title);
    assert_has(script, "\\303\\244...\" noenhanced\n");
    assert_that(strlen(script), <, 3000);
    free(script);
}

static void time_axis_unit_suits_the_trace_length(void **state) {
    (void)state;
    static const struct {
        ss_time length;
        const char *name, *range, *tics;
    } cases[] = {
        {20, "nanoseconds", "[0:20]", "0,2\n"},
        {3 * SS_MICROSECOND, "microseconds", "[0:3]", "0,0.5\n"},
        {20 * SS_MILLISECOND, "milliseconds", "[0:20]", "0,2\n"},
        {179 * SS_SECOND, "seconds", "[0:179]", "0,20\n"},
        {340 * SS_SECOND, "seconds", "[0:340]", "0,30\n"},
        {360 * SS_SECOND, "minutes", "[0:6]", "0,0.5\n"},
        {1620 * SS_SECOND, "minutes", "[0:27]", "0,5\n"},
        {6 * 3600 * SS_SECOND, "hours", "[0:6]", "0,0.5\n"},
        {DAY, "hours", "[0:24]", "0,2\n"},
        {182500 * DAY, "days", "[0:182500]", "0,20000\n"},
        {0, "seconds", "[0:1]", "0,2\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[200];
        snprintf(expected, sizeof expected, "time in %s\"\nset xrange %s\nset xtics %s",
            cases[i].name, cases[i].range, cases[i].tics);
        char *script = script_for("0 1/2\n", cases[i].length, 4, "title");
        assert_has(script, expected);
        assert_has(script, "set yrange [0:100]");
        free(script);
    }
}

static void gnuplot_script_separates_loads_from_free_sections(void **state) {
    (void)state;
    char *script = script_for("0 free\n10s 20%\n30s 60%\n40s 60%\n40s free\n60s 1/2\n70s 1/2\n"
                              "71s free\n80s free\n",
        80 * SS_SECOND, 8, "title");
    assert_has(script, "$free << END\n5 100 10\n50 100 20\n75 100 10\nEND\n");
    assert_has(script,
        "$load << END\n10 20 40 30\n15 20 40 30\n25 40 60 50\n35 60 60 60\n"
        "40 60 60 60\n\n60 50 50 50\n65 50 50 50\n75 50 50 50\n80 50 50 50\n\nEND\n");
    assert_has(script, "plot $free using 1:2:3 with boxes");
    assert_has(script, "$load using 1:2:3 with filledcurves");
    assert_has(script, "$load using 1:4 with lines");
    free(script);
    script = script_for("0 1/2\n", 10 * SS_SECOND, 8, "title");
    assert_has_not(script, "plot $free");
    assert_has(script, "plot $load");
    free(script);
    script = script_for("0 free\n", 0, 8, "title");
    assert_has(script, "$free << END\n0.5 100 1\nEND\n");
    assert_has(script, "title \"free\"\n");
    free(script);
}

/* The tests below run the real gnuplot. */
static void need_gnuplot(void) {
    SKIP_UNLESS(system("gnuplot --version >/dev/null 2>&1") == 0, "gnuplot: not installed");
}

static void gnuplot_draws_special_characters_literally(void **state) {
    (void)state;
    need_gnuplot();
    size_t size;
    char *text = draw_sized("svg", "0 free\n1s 0\n9s 1\n", 9 * SS_SECOND, 1000,
        "it's \"a\" @b_{c} \\n^2 `id` %d <&> #\xc3\xa4", &size);
    assert_memory_equal(text, "<?xml", 5);
    assert_has(text, ">it's \"a\" @b_{c} \\n^2 `id` %d &lt;&amp;> #\xc3\xa4<");
    assert_has(text, "time in seconds");
    assert_has(text, "100 %");
    assert_has(text, "</svg>");
    free(text);
}

static void gnuplot_draws_every_trace(void **state) {
    (void)state;
    need_gnuplot();
    static const struct {
        const char *trace;
        ss_time length;
    } cases[] = {{"0 free\n", 0}, {"0 1\n", 0}, {"0 free\n1s free\n", SS_SECOND},
        {"0 0\n20n 1\n", 20}, {"0 0\n182500d 1\n", 182500 * DAY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size;
        char *text = draw_sized("png", cases[i].trace, cases[i].length, 1000, NULL, &size);
        assert_that(size, >, 1000);
        assert_memory_equal(text, "\x89PNG\r\n\x1a\n", 8);
        assert_memory_equal(text + size - 8, "IEND", 4);
        free(text);
    }
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(missing_gnuplot_error_names_the_package),
    cmocka_unit_test(gnuplot_errors_are_forwarded),
    cmocka_unit_test(empty_output_of_gnuplot_is_an_error),
    cmocka_unit_test(unknown_picture_formats_are_refused),
    cmocka_unit_test(picture_is_appended_to_earlier_output),
    cmocka_unit_test(titles_are_escaped_for_gnuplot),
    cmocka_unit_test(long_picture_titles_are_truncated),
    cmocka_unit_test(time_axis_unit_suits_the_trace_length),
    cmocka_unit_test(gnuplot_script_separates_loads_from_free_sections),
    cmocka_unit_test(gnuplot_draws_special_characters_literally),
    cmocka_unit_test(gnuplot_draws_every_trace))
