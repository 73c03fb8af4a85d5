/* SPDX-License-Identifier: Apache-2.0 */
#include "difference.h"

#include <stdbool.h>
#include <string.h>

#define PLACE 512

/* Stop at this depth; real descriptions have fewer levels. */
#define DEPTH_MAX 32

struct comparison {
    FILE *stream;
    int count;
    int depth;
    char place[PLACE];
};

static const char *show(struct json_object *value, char *buffer, size_t size) {
    switch (json_object_get_type(value)) {
    case json_type_null:
        return "unknown";
    case json_type_array:
        snprintf(buffer, size, "%zu entries", json_object_array_length(value));
        return buffer;
    case json_type_object:
        snprintf(buffer, size, "%d members", json_object_object_length(value));
        return buffer;
    default: /* numbers as the document writes them */
        return json_object_get_string(value);
    }
}

static bool are(struct json_object *before, struct json_object *now, enum json_type type) {
    return json_object_is_type(before, type) && json_object_is_type(now, type);
}

static void compare(struct comparison *it, struct json_object *before, struct json_object *now);

/* Compares members with this name or, if it is NULL, list entries with this index. */
static void compare_at(struct comparison *it, const char *name, size_t index,
    struct json_object *before, struct json_object *now) {
    size_t length = strlen(it->place);
    if (name)
        snprintf(it->place + length, PLACE - length, "%s%s", length ? "." : "", name);
    else
        snprintf(it->place + length, PLACE - length, "[%zu]", index);
    compare(it, before, now);
    it->place[length] = '\0';
}

static void compare_members(
    struct comparison *it, struct json_object *before, struct json_object *now) {
    json_object_object_foreach(before, name, value) {
        compare_at(it, name, 0, value, json_object_object_get(now, name));
    }
    json_object_object_foreach(now, new_name, new_value) {
        if (!json_object_object_get_ex(before, new_name, NULL))
            compare_at(it, new_name, 0, NULL, new_value);
    }
}

static void compare(struct comparison *it, struct json_object *before, struct json_object *now) {
    if (it->depth == DEPTH_MAX)
        return;
    it->depth++;
    if (are(before, now, json_type_object)) {
        compare_members(it, before, now);
    } else if (are(before, now, json_type_array) &&
               json_object_array_length(before) == json_object_array_length(now)) {
        for (size_t i = 0; i < json_object_array_length(before); i++)
            compare_at(it, NULL, i, json_object_array_get_idx(before, i),
                json_object_array_get_idx(now, i));
    } else {
        char a[32], b[32];
        const char *was = show(before, a, sizeof a), *is = show(now, b, sizeof b);
        if (strcmp(was, is) != 0) {
            fprintf(it->stream, "showstopper: --replay: platform: %s was %.200s, is %.200s\n",
                it->place, was, is);
            it->count++;
        }
    }
    it->depth--;
}

int ssreplay_print_differences(FILE *stream, struct json_object *before, struct json_object *now) {
    struct comparison comparison = {.stream = stream};
    compare(&comparison, before, now);
    return comparison.count;
}
