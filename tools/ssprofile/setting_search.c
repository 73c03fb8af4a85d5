/* SPDX-License-Identifier: Apache-2.0 */
#include "setting_search.h"

#include <math.h>

double ssprofile_search_cost(double mean) {
    return mean >= 1 ? mean : 2 - mean;
}

/* OpenTuner, which the published search uses, extends the range of an integer at both ends. */
#define RANGE (SSPROFILE_SETTING_MAX - SSPROFILE_SETTING_MIN + 2 * 0.4999)

void ssprofile_search_begin(struct ssprofile_search *search) {
    *search = (struct ssprofile_search){
        .best = SSPROFILE_SETTING_MAX, .best_cost = INFINITY, .step = -RANGE / 4};
}

static void turn(struct ssprofile_search *search) {
    search->step /= -2;
}

static bool was_tested(const struct ssprofile_search *search, int setting) {
    for (size_t i = 0; i < search->count; i++) {
        if (search->settings[i] == setting)
            return true;
    }
    return false;
}

/*
 * Settings that were tested before were no better than the current one, so they reverse the
 * direction without another test.
 */
int ssprofile_search_next(struct ssprofile_search *search) {
    if (search->count == 0)
        return search->best;
    if (search->count == SSPROFILE_TESTS)
        return 0;
    for (; fabs(search->step) >= 0.5; turn(search)) {
        double next = round(search->best + search->step);
        int setting = (int)fmin(fmax(next, SSPROFILE_SETTING_MIN), SSPROFILE_SETTING_MAX);
        if (!was_tested(search, setting))
            return setting;
    }
    return 0;
}

void ssprofile_search_add_cost(struct ssprofile_search *search, int setting, double cost) {
    if (search->count == SSPROFILE_TESTS)
        return;
    search->settings[search->count] = setting;
    search->costs[search->count++] = cost;
    if (cost < search->best_cost) {
        search->best = setting;
        search->best_cost = cost;
    } else {
        turn(search);
    }
}

/* Bounds of the slope of ln r over ln q, which is 1 if speed is proportional to the setting. */
#define SLOPE_MIN 0.25
#define SLOPE_MAX 4

void ssprofile_closed_begin(struct ssprofile_closed *closed, double least) {
    *closed = (struct ssprofile_closed){.setting = 1, .least = least};
}

/* Returns the slope of the secant through the last two points, or 1 if noise makes it useless. */
static double slope(const struct ssprofile_closed *closed) {
    if (closed->count < 2)
        return 1;
    size_t last = closed->count - 1;
    double run = log(closed->settings[last]) - log(closed->settings[last - 1]);
    double found = (closed->logs[last] - closed->logs[last - 1]) / run;
    return found >= SLOPE_MIN && found <= SLOPE_MAX ? found : 1;
}

/*
 * Ends the method without an interval that contains 0: speed may jump by more than its width
 * between two settings.
 */
static enum ssprofile_verdict end(const struct ssprofile_closed *closed) {
    return closed->off[closed->nearest] <= SSPROFILE_CLOSED_HALF ? SSPROFILE_NEAR
                                                                 : SSPROFILE_FAILED;
}

enum ssprofile_verdict ssprofile_closed_add_ratio(
    struct ssprofile_closed *closed, double mean, double half) {
    bool equal = fabs(mean) <= half;
    if (isnan(half) || (equal && half > SSPROFILE_CLOSED_HALF))
        return SSPROFILE_REPEAT;
    if (equal)
        return SSPROFILE_DONE;
    if (closed->setting >= 1 && mean < 0)
        return SSPROFILE_SLOWER;
    if (closed->count == SSPROFILE_CLOSED_TESTS)
        return end(closed);
    closed->settings[closed->count] = closed->setting;
    closed->logs[closed->count] = mean;
    closed->off[closed->count] = fabs(mean) + half;
    if (closed->off[closed->count] < closed->off[closed->nearest])
        closed->nearest = closed->count;
    closed->count++;
    double next = fmin(closed->setting * exp(-mean / slope(closed)), 1);
    if (next < closed->least || next == closed->setting || closed->count == SSPROFILE_CLOSED_TESTS)
        return end(closed);
    closed->setting = next;
    return SSPROFILE_TEST;
}
