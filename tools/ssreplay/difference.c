/* SPDX-License-Identifier: Apache-2.0 */
#include "difference.h"

#include <stdbool.h>
#include <string.h>

#define PLACE 512

/* Deeper than any description. */
#define DEPTH_MAX 32

struct comparison {
    FILE *stream;
    int count;
    int depth;
    char place[PLACE];
};

static const char *show(yajl_val value, char *buffer, size_t size) {
    if (!value || YAJL_IS_NULL(value))
        return "unknown";
    if (YAJL_IS_STRING(value))
        return YAJL_GET_STRING(value);
    if (YAJL_IS_NUMBER(value))
        return YAJL_GET_NUMBER(value);
    if (YAJL_IS_TRUE(value) || YAJL_IS_FALSE(value))
        return YAJL_IS_TRUE(value) ? "true" : "false";
    if (YAJL_IS_ARRAY(value))
        snprintf(buffer, size, "%zu entries", value->u.array.len);
    else
        snprintf(buffer, size, "%zu members", value->u.object.len);
    return buffer;
}

static void tell(struct comparison *it, yajl_val before, yajl_val now) {
    char a[32], b[32];
    fprintf(it->stream, "showstopper: --replay: platform: %s was %.200s, is %.200s\n", it->place,
        show(before, a, sizeof a), show(now, b, sizeof b));
    it->count++;
}

static yajl_val member(yajl_val object, const char *name) {
    for (size_t i = 0; i < object->u.object.len; i++) {
        if (strcmp(object->u.object.keys[i], name) == 0)
            return object->u.object.values[i];
    }
    return NULL;
}

static void compare(struct comparison *it, yajl_val before, yajl_val now);

static void compare_at(
    struct comparison *it, const char *name, size_t index, yajl_val before, yajl_val now) {
    size_t length = strlen(it->place);
    if (name)
        snprintf(it->place + length, PLACE - length, "%s%s", length ? "." : "", name);
    else
        snprintf(it->place + length, PLACE - length, "[%zu]", index);
    compare(it, before, now);
    it->place[length] = '\0';
}

static bool is_same(yajl_val before, yajl_val now) {
    char a[32], b[32];
    return strcmp(show(before, a, sizeof a), show(now, b, sizeof b)) == 0;
}

static void compare(struct comparison *it, yajl_val before, yajl_val now) {
    if (it->depth == DEPTH_MAX)
        return;
    it->depth++;
    if (before && now && YAJL_IS_OBJECT(before) && YAJL_IS_OBJECT(now)) {
        for (size_t i = 0; i < before->u.object.len; i++) {
            const char *name = before->u.object.keys[i];
            compare_at(it, name, 0, before->u.object.values[i], member(now, name));
        }
        for (size_t i = 0; i < now->u.object.len; i++) {
            const char *name = now->u.object.keys[i];
            if (!member(before, name))
                compare_at(it, name, 0, NULL, now->u.object.values[i]);
        }
    } else if (before && now && YAJL_IS_ARRAY(before) && YAJL_IS_ARRAY(now) &&
               before->u.array.len == now->u.array.len) {
        for (size_t i = 0; i < before->u.array.len; i++)
            compare_at(it, NULL, i, before->u.array.values[i], now->u.array.values[i]);
    } else if (!is_same(before, now)) {
        tell(it, before, now);
    }
    it->depth--;
}

int ssreplay_print_differences(FILE *stream, yajl_val before, yajl_val now) {
    struct comparison comparison = {.stream = stream};
    compare(&comparison, before, now);
    return comparison.count;
}
