/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "policy.h"

/* A decision is a rule of the policy, and a second decision at the same load keeps that rule. */
static void check_decisions(const struct ssactuate_policy *policy) {
    struct ssactuate_decision decision = {.policy = policy};
    for (ss_time now = 0; now <= 20; now++) {
        double load = (double)(now * 7 % 20) / 20;
        size_t rule = ssactuate_decide(&decision, now * policy->stay, load);
        FUZZ_CHECK(rule < policy->count);
        if (rule != decision.rule)
            ssactuate_decision_update(&decision, now * policy->stay, rule);
        FUZZ_CHECK(ssactuate_decide(&decision, now * policy->stay, load) == rule);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ssactuate_policy policy;
    struct ss_error error = {0};
    FILE *stream = fuzz_stream(data, size);
    if (ssactuate_policy_read(&policy, stream, "policy", &error) == 0)
        check_decisions(&policy);
    else
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    fclose(stream);
    ssactuate_policy_free(&policy);
    return 0;
}
