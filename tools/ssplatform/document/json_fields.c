/* SPDX-License-Identifier: Apache-2.0 */
#include "json_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ssplatform_put_line(
    struct ss_json *json, const char *name, const struct sys_tree *tree, const char *path) {
    char *line = sys_tree_line(tree, "%s", path);
    ss_json_text(json, name, line);
    free(line);
}

void ssplatform_put_switch(struct ss_json *json, const char *name, double number) {
    const char *text = NULL;
    if (number == 0 || number == 1)
        text = number == 1 ? "on" : "off";
    ss_json_text(json, name, text);
}

bool ssplatform_open_list(struct ss_json *json, const char *name, bool known) {
    if (known)
        ss_json_open(json, name, '[');
    else
        ss_json_text(json, name, NULL);
    return known;
}

void ssplatform_put_words(
    struct ss_json *json, const char *name, const struct sys_tree *tree, const char *path) {
    char *line = sys_tree_line(tree, "%s", path);
    if (!ssplatform_open_list(json, name, line))
        return;

    char *rest = NULL;
    for (char *word = strtok_r(line, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
        ss_json_text(json, NULL, word);

    ss_json_close(json, ']');
    free(line);
}

double ssplatform_memory(const struct sys_tree *tree, const char *path) {
    char *value = sys_tree_value(tree, path, "MemTotal:");
    char *unit = value ? strstr(value, " kB") : NULL;
    if (unit)
        *unit = '\0';
    double bytes = 1024 * sys_tree_parse_number(unit ? sys_tree_trim(value) : NULL);
    free(value);
    return bytes >= 0 ? bytes : NAN;
}
