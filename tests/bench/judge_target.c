/* SPDX-License-Identifier: Apache-2.0 */

#include "judge_target.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point {
    double time;  /* seconds since the start */
    double load;  /* 0 to 1 */
    double until; /* integral of the target up to `time`, seconds */
};

static struct point *points;
static size_t point_count;

_Noreturn void judge_fail(const char *what, const char *word) {
    fprintf(stderr, "judge: %s: %s\n", word, what);
    exit(125);
}

void target_add(double time, double load) {
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

void target_read(const char *path) {
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

bool target_is_given(void) {
    return point_count > 0;
}

double target_until(double time) {
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
