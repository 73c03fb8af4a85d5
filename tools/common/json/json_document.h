/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPLAY_DOCUMENT_H
#define SSREPLAY_DOCUMENT_H

/* The JSON of a record, read back whole: what `showstopper` writes, of 16 MiB at most. */

#include <stdio.h>
#include <yajl/yajl_tree.h>

#include <showstopper/error.h>

/* NULL, perhaps with `why`: it is none. Free it with yajl_tree_free(), which takes NULL, too. */
SS_WRITES(2, 3) yajl_val ssreplay_document_parse(FILE *stream, char *why, size_t size);

/* NULL with the error set; `missing` is what to do when there is no such file. */
yajl_val ssreplay_document_read(
    const char *folder, const char *name, const char *missing, struct ss_error *error);

/* All take NULL, of which nothing is known: NULL, NULL and NaN. */
yajl_val ssreplay_document_get(yajl_val object, const char *name, yajl_type type);
const char *ssreplay_document_text(yajl_val object, const char *name);
double ssreplay_document_number(yajl_val object, const char *name);

#endif
