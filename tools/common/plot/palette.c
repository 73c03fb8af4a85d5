/* SPDX-License-Identifier: Apache-2.0 */
#include "palette.h"

#include <stdio.h>

/* All colors except the grid's have a contrast of at least 3 with the background. */
const struct plot_color plot_palette[] = {
    {"ink", PLOT_INK, "#e3e5e8"},
    {"axis", PLOT_AXIS, "#868b91"},
    {"grid", PLOT_GRID, "#3b4046"},
    {"blue", PLOT_BLUE, "#5ab0ee"},
    {"orange", PLOT_ORANGE, "#ff9147"},
    {"green", PLOT_GREEN, "#35c99a"},
    {"purple", PLOT_PURPLE, "#d79ad3"},
    {"amber", PLOT_AMBER, "#e3bd3f"},
    {"sky", PLOT_SKY, "#a5d8ff"},
    {"brown", PLOT_BROWN, "#c9a597"},
    {"gray", PLOT_GRAY, "#a6abb2"},
    {NULL, NULL, NULL},
};

const struct plot_color *plot_color_find(const unsigned parts[3]) {
    for (const struct plot_color *color = plot_palette; color->name; color++) {
        unsigned light[3];
        if (sscanf(color->light, "#%2x%2x%2x", &light[0], &light[1], &light[2]) == 3 &&
            light[0] == parts[0] && light[1] == parts[1] && light[2] == parts[2])
            return color;
    }
    return NULL;
}

const char *plot_series_color(size_t series) {
    static const char *const colors[] = {PLOT_BLUE, PLOT_ORANGE, PLOT_GREEN, PLOT_PURPLE,
        PLOT_AMBER, PLOT_SKY, PLOT_BROWN, PLOT_GRAY};
    return colors[series % (sizeof colors / sizeof *colors)];
}

int plot_series_mark(size_t series) {
    static const int marks[] = {7, 5, 9, 11, 13, 6, 4, 8, 10, 12, 14};
    return marks[series % (sizeof marks / sizeof *marks)];
}
