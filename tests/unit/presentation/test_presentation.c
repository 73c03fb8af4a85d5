/* SPDX-License-Identifier: Apache-2.0 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "html_page.h"
#include "picture.h"
#include "unit.h"

/* The text printed between begin() and end(). */
static char *bytes;
static size_t size;

static FILE *begin(void) {
    FILE *stream = open_memstream(&bytes, &size);
    assert_non_null(stream);
    return stream;
}

static void end(FILE *stream) {
    assert_int_equal(fclose(stream), 0);
}

static void assert_has(const char *part) {
    if (!strstr(bytes, part))
        fail_msg("no '%s' in:\n%s", part, bytes);
}

/* Returns the relative luminance as defined by the Web Content Accessibility Guidelines. */
static double luminance_of(const char *color) {
    static const double weights[] = {0.2126, 0.7152, 0.0722};
    unsigned parts[3];
    double luminance = 0;
    assert_int_equal(sscanf(color, "#%2x%2x%2x", &parts[0], &parts[1], &parts[2]), 3);
    for (int i = 0; i < 3; i++) {
        double part = parts[i] / 255.0;
        luminance +=
            weights[i] * (part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4));
    }
    return luminance;
}

static void assert_contrast(const char *name, const char *color, const char *paper, double least) {
    double one = luminance_of(color) + 0.05, other = luminance_of(paper) + 0.05;
    double contrast = fmax(one, other) / fmin(one, other);
    if (contrast < least)
        fail_msg("%s, %s on %s: a contrast of %.2f", name, color, paper, contrast);
}

static void colors_are_visible_in_both_schemes(void **state) {
    (void)state;
    for (const struct plot_color *color = plot_palette; color->name; color++) {
        double least = strcmp(color->name, "ink") == 0    ? 7
                       : strcmp(color->name, "grid") == 0 ? 1.3
                                                          : 3;
        assert_contrast(color->name, color->light, PLOT_PAPER_LIGHT, least);
        assert_contrast(color->name, color->dark, PLOT_PAPER_DARK, least);
    }
}

static void series_differ_in_color_and_mark(void **state) {
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(plot_series_color(i), plot_series_color(j));
            assert_int_not_equal(plot_series_mark(i), plot_series_mark(j));
        }
    }
    /* When colors repeat, marks must differ. */
    assert_string_equal(plot_series_color(8), plot_series_color(0));
    assert_int_not_equal(plot_series_mark(8), plot_series_mark(0));
}

static void load_axes_fit_the_data_and_label_their_start(void **state) {
    (void)state;
    static const struct {
        double least, most;
        const char *axis;
    } cases[] = {
        {0.32, 0.41, "set xlabel \"load (axis begins at 30)\"\nset xrange [30:45]\n"},
        {0.05, 0.95, "set xlabel \"load\"\nset xrange [0:100]\n"},
        {0, 1, "set xlabel \"load\"\nset xrange [0:100]\n"},
        {0.02, 0.03, "set xlabel \"load\"\nset xrange [0:5]\n"},
        {0.5, 0.5, "set xlabel \"load (axis begins at 45)\"\nset xrange [45:55]\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *script = begin();
        plot_axis_percent(script, 'x', "load", cases[i].least, cases[i].most);
        end(script);
        assert_string_equal(bytes, cases[i].axis);
        free(bytes);
    }
}

/* Returns the ends of the y axis that gnuplot draws. */
static void draw_axis(double value, enum plot_range range, double ends[2]) {
    FILE *script = tmpfile(), *output = tmpfile();
    struct ss_error error = {0};
    char text[100] = "";
    assert_non_null(script);
    assert_non_null(output);
    plot_begin_on_page(script);
    plot_axis(script, 'y', "y", range);
    fprintf(script,
        "set output \"/dev/null\"\n$d << END\n1 %.9g\nEND\nplot $d using 1:2 with points notitle\n"
        "set print \"-\"\nprint GPVAL_Y_MIN, GPVAL_Y_MAX\n",
        value);
    if (plot_run(script, output, &error) < 0)
        fail_msg("%s", error.message);
    rewind(output);
    assert_non_null(fgets(text, sizeof text, output));
    assert_int_equal(sscanf(text, "%lf %lf", &ends[0], &ends[1]), 2);
    fclose(script);
    fclose(output);
}

static void single_point_has_a_sensible_axis(void **state) {
    (void)state;
    static const struct {
        double value;
        enum plot_range range;
        double from_min, from_max, to_min, to_max;
    } cases[] = {
        {-9.04, PLOT_AROUND_ZERO, -12, -9.04, 0, 0},
        {9.04, PLOT_AROUND_ZERO, 0, 0, 9.04, 12},
        {9.04, PLOT_FROM_ZERO, 0, 0, 9.04, 12},
        {0, PLOT_FROM_ZERO, 0, 0, 0, 1},
        {0, PLOT_AROUND_ZERO, -1, 0, 0, 1},
        {3, PLOT_LOGARITHMIC, 1, 3, 3, 10},
        {10, PLOT_LOGARITHMIC, 1, 10, 10, 100},
    };
    SKIP_UNLESS(system("gnuplot --version >/dev/null 2>&1") == 0, "gnuplot: not installed");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double ends[2];
        draw_axis(cases[i].value, cases[i].range, ends);
        if (!(ends[0] >= cases[i].from_min && ends[0] <= cases[i].from_max &&
                ends[1] >= cases[i].to_min && ends[1] <= cases[i].to_max && ends[0] < ends[1]))
            fail_msg("%g, range %d: axis from %g to %g", cases[i].value, cases[i].range, ends[0],
                ends[1]);
    }
}

static void logarithmic_axes_are_labeled_as_such(void **state) {
    (void)state;
    FILE *script = begin();
    plot_axis(script, 'y', "time, ms", PLOT_LOGARITHMIC);
    end(script);
    assert_string_equal(
        bytes, "set ylabel \"time, ms (logarithmic)\"\nset yrange [*:*]\nset logscale y\n");
    free(bytes);
}

static void labels_of_logarithmic_axes_do_not_overlap(void **state) {
    (void)state;
    FILE *script = begin();
    plot_axis_logarithmic(script, 'x', "ratio", 0.95, 30);
    end(script);
    assert_has("set xlabel \"ratio (logarithmic)\"");
    assert_has("set xrange [0.95:30]\n");
    static const double expected[] = {1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char label[64];
        snprintf(label, sizeof label, "set xtics add (\"%g\" %g)\n", expected[i], expected[i]);
        assert_has(label);
    }
    /* Too close to 5. */
    assert_null(strstr(bytes, "\"4\""));
    assert_null(strstr(bytes, "\"6\""));
    free(bytes);
}

static void embed(const char *svg, unsigned number, const char *what) {
    FILE *page = begin();
    assert_int_equal(page_picture_embed(page, svg, number, what), 0);
    end(page);
}

static void pictures_on_a_page_do_not_share_identifiers(void **state) {
    (void)state;
    embed("<?xml version=\"1.0\"?>\n<!DOCTYPE svg>\n<svg width=\"1\">"
          "<title>Gnuplot</title><g id=\"a\"/><g id='b'/><use xlink:href='#b'/>"
          "<use href=\"#a\"/><g fill='url(#b)'/></svg>\n",
        7, "a \"b\" < c");
    assert_string_equal(bytes,
        "<svg role=\"img\" aria-label=\"a &quot;b&quot; &lt; c\" width=\"1\"><g id=\"p7-a\"/>"
        "<g id='p7-b'/><use xlink:href='#p7-b'/><use href=\"#p7-a\"/><g fill='url(#p7-b)'/>"
        "</svg>\n");
    free(bytes);
    FILE *page = begin();
    assert_int_equal(page_picture_embed(page, "<svg", 1, ""), -1);
    assert_int_equal(page_picture_embed(page, "nothing", 1, ""), -1);
    end(page);
    free(bytes);
}

static void pictures_follow_the_scheme_of_the_page(void **state) {
    (void)state;
    embed("<svg viewBox=\"0 0 560 300\"><g color=\"black\" stroke=\"rgb(  0, 114, 178)\"/>"
          "<g font-family=\"sans-serif\" fill='rgb(34,34,34)'/><g fill='rgb(1,2,3)'/></svg>\n",
        1, "a");
    assert_string_equal(bytes,
        "<svg role=\"img\" aria-label=\"a\" style=\"max-width:40rem\" viewBox=\"0 0 560 300\">"
        "<g color=\"currentColor\" stroke=\"var(--blue)\"/><g fill='var(--ink)'/>"
        "<g fill='rgb(1,2,3)'/></svg>\n");
    free(bytes);
}

static void pictures_on_a_page_use_only_page_colors(void **state) {
    (void)state;
    SKIP_UNLESS(system("gnuplot --version >/dev/null 2>&1") == 0, "gnuplot: not installed");
    SS_OWNED(fclose) FILE *script = tmpfile();
    assert_non_null(script);
    plot_begin_on_page(script);
    plot_axis(script, 'x', "x", PLOT_FROM_ZERO);
    plot_axis(script, 'y', "y", PLOT_AROUND_ZERO);
    plot_line_at(script, 'y', 0);
    fputs("plot 0.5*x with lines lc rgb \"" PLOT_GREEN "\" title \"a\", x with " PLOT_RINGS
          " notitle, 1 with filledcurves y=0.5 " PLOT_SHADED " lc rgb \"" PLOT_SKY "\" notitle\n",
        script);
    unsigned number = 0;
    struct ss_error without = {0};
    FILE *page = begin();
    page_figure(page, &(struct page_figure){script, "<all>", "for <b>all</b>"}, &number, &without);
    end(page);
    assert_int_equal(number, 1);
    assert_has(
        "<figure><figcaption>&lt;all&gt;<div class=\"how\">for <b>all</b></div></figcaption>");
    assert_has("var(--green)");
    assert_has("var(--sky)");
    assert_has("var(--axis)");
    const char *fixed = strstr(bytes, "rgb(");
    fixed = fixed ? fixed : strstr(bytes, "\"black\"");
    fixed = fixed ? fixed : strstr(bytes, "white");
    if (fixed)
        fail_msg("a fixed color: %.60s", fixed);
    free(bytes);
}

static void pages_have_a_light_and_a_dark_scheme(void **state) {
    (void)state;
    FILE *page = begin();
    page_begin(page, "A & B", "C < D");
    page_end(page, "program");
    end(page);
    assert_has("<title>A &amp; B</title>");
    assert_has("<h1>C &lt; D</h1>");
    assert_has(":root{color-scheme:light dark}\n:root{--paper:#ffffff;");
    assert_has("@media (prefers-color-scheme:dark){:root{--paper:#16181c;");
    assert_has(";--blue:" PLOT_BLUE);
    assert_has("<p><small>program ");
    assert_has("</html>\n");
    free(bytes);
}

static const struct table_column columns[] = {{"name", "name"}};

static void only_long_tables_are_collapsed(void **state) {
    (void)state;
    struct table_sheet sheet = TABLE_SHEET("file", "T&T", columns);
    FILE *page = begin();
    page_sheet(page, &sheet);
    end(page);
    assert_string_equal(bytes, "");
    free(bytes);
    for (size_t i = 0; i < PAGE_ROWS_OPEN_MAX; i++)
        TABLE_ROW(&sheet, CELL("name", "a"));
    page = begin();
    page_sheet(page, &sheet);
    end(page);
    assert_null(strstr(bytes, "<details>"));
    free(bytes);
    TABLE_ROW(&sheet, CELL("name", "a"));
    page = begin();
    page_sheet(page, &sheet);
    end(page);
    assert_has("<details><summary>T&amp;T: 25 rows</summary>\n");
    assert_has("</table></div>\n</details>\n");
    free(bytes);
    table_free(&sheet);
}

static void lines_of_a_finding_never_begin_with_a_percent_sign(void **state) {
    (void)state;
    FILE *page = begin();
    page_findings_begin(page);
    page_finding(page, "5 % of <it>, 6 %");
    page_findings_end(page);
    page_note(page, "a<b", "c & d");
    page_note(page, NULL, "e");
    end(page);
    assert_string_equal(bytes,
        "<ul class=\"findings\">\n<li>5\u00a0% of &lt;it&gt;, 6\u00a0%</li>\n"
        "</ul>\n<p class=\"note\"><b>a&lt;b</b>: c &amp; d</p>\n"
        "<p class=\"note\">e</p>\n");
    free(bytes);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(colors_are_visible_in_both_schemes),
    cmocka_unit_test(series_differ_in_color_and_mark),
    cmocka_unit_test(load_axes_fit_the_data_and_label_their_start),
    cmocka_unit_test(single_point_has_a_sensible_axis),
    cmocka_unit_test(logarithmic_axes_are_labeled_as_such),
    cmocka_unit_test(labels_of_logarithmic_axes_do_not_overlap),
    cmocka_unit_test(pictures_on_a_page_do_not_share_identifiers),
    cmocka_unit_test(pictures_follow_the_scheme_of_the_page),
    cmocka_unit_test(pictures_on_a_page_use_only_page_colors),
    cmocka_unit_test(pages_have_a_light_and_a_dark_scheme),
    cmocka_unit_test(only_long_tables_are_collapsed),
    cmocka_unit_test(lines_of_a_finding_never_begin_with_a_percent_sign))
