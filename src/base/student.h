/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_STUDENT_H
#define SHOWSTOPPER_BASE_STUDENT_H

/*
 * Returns half the width of a two-sided 95 % confidence interval, in standard errors: the 97.5 %
 * quantile of Student's t. `freedom` is at least 1 and need not be a whole number.
 */
double ss_student_quantile(double freedom);

#endif
