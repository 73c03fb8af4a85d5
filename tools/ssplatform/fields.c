/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ssplatform_put_line(
    struct ss_json *json, const char *name, const struct ssplatform_tree *tree, const char *path) {
    char *line = ssplatform_tree_line(tree, "%s", path);
    ss_json_text(json, name, line);
    free(line);
}

void ssplatform_put_switch(struct ss_json *json, const char *name, double number) {
    ss_json_text(json, name, number == 1 ? "on" : number == 0 ? "off" : NULL);
}

void ssplatform_put_words(
    struct ss_json *json, const char *name, const struct ssplatform_tree *tree, const char *path) {
    char *line = ssplatform_tree_line(tree, "%s", path);
    if (!line) {
        ss_json_text(json, name, NULL);
        return;
    }
    ss_json_open(json, name, '[');
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
        ss_json_text(json, NULL, word);
    ss_json_close(json, ']');
    free(line);
}

double ssplatform_memory(const struct ssplatform_tree *tree, const char *path) {
    char *text = ssplatform_tree_read(tree, "%s", path);
    char *at = text ? strstr(text, "MemTotal:") : NULL;
    char *value = at ? at + strlen("MemTotal:") : NULL;
    char *line = value ? strsep(&value, "\n") : NULL;
    char *unit = line ? strstr(line, " kB") : NULL;
    if (unit)
        *unit = '\0';
    char *number = unit ? ssplatform_trim(line) : NULL;
    double bytes = 1024 * ssplatform_number(number);
    free(text);
    return bytes >= 0 ? bytes : NAN;
}
