# SPDX-License-Identifier: Apache-2.0
"""Experiments: each plans runs, lets ssbatch(1) carry them out, and reports them."""

QUESTIONS = {
    "accuracy": "How well is a constant load held?",
    "throughput": "What is the throughput at each load?",
    "replay": "Does a load trace that is played faster give the same result?",
    "loadline": "How much of its maximum throughput does a machine reach?",
    "duet": "Which of two commands is faster, and by how much?",
    "interference": "How much does a background program disturb another one?",
    "antagonist": "Which process slows a service down?",
    "latency": "How do response times depend on the load or the rate?",
    "tradeoffs": "What does a knob of the machine cost, and what does it save?",
}

FOR_PLANS = {
    "line": "Print workloads as words and lines of a plan.",
    "pairs": "Print pairs of workloads in a balanced order.",
    "value": "Check the value of an option, and print it as in a plan.",
}
