/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAGE_HTML_PAGE_H
#define PAGE_HTML_PAGE_H

/* Parts of self-contained HTML pages, which follow the reader's color scheme. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <showstopper/contract.h>

#include "sheet.h"

/* Tables with more rows than this are folded. */
#define PAGE_ROWS_OPEN_MAX 24

void page_begin(FILE *page, const char *title, const char *heading) SS_NONNULL();

/* Ends the document with a line that names the program and its version. */
void page_end(FILE *page, const char *program) SS_NONNULL();

/* Prints the page's answer in large type. Call this directly after page_begin(). */
void page_answer(FILE *page, const char *sentence) SS_NONNULL();

/* Prints a warning; `name` is its subject, or NULL. */
void page_note(FILE *page, const char *name, const char *text) SS_NONNULL(1, 3);

/*
 * Folds the following parts, until page_unfold(). The summary of the fold is "TITLE: COUNT OF",
 * such as "Runs: 30 rows".
 */
void page_fold(FILE *page, const char *title, size_t count, const char *of) SS_NONNULL();
void page_unfold(FILE *page) SS_NONNULL();

/* Prints a table, folded if it is long. Prints nothing without rows. */
void page_sheet(FILE *page, const struct table_sheet *sheet) SS_NONNULL();

/* Print a list of findings. */
void page_findings_begin(FILE *page) SS_NONNULL();
void page_finding(FILE *page, const char *sentence) SS_NONNULL();
void page_findings_end(FILE *page) SS_NONNULL();

#endif
