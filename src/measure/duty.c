/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/duty.h"

#include <math.h>

void ss_duty_begin(struct ss_duty_meter *meter, const struct ss_board *board, ss_time now) {
    meter->time = now;
    ss_permits_read(&board->permits, now, &meter->permission);
}

double ss_duty_take(struct ss_duty_meter *meter, const struct ss_board *board, ss_time now) {
    struct ss_duty_meter last = *meter;
    uint32_t alive = atomic_load(&board->alive);
    ss_duty_begin(meter, board, now);
    if (alive == 0 || now <= last.time)
        return NAN;
    double given = ss_permission_between(last.permission.given, meter->permission.given);
    /* An executor may have changed state since `now`, and an instance may have ended. */
    return fmin(fmax(given / ((double)(now - last.time) * alive), 0), 1);
}
