# SPDX-License-Identifier: Apache-2.0
"""ssantagonist plan and answer.

The C program checks the options, and executes this with NAME=VALUE of each, see study.Call.
"""

from __future__ import annotations

import sys

from ..cli import Program
from ..options import Option, Values


def run(values: Values) -> int:
    from . import answer, plan, study  # libraries are prepared now

    call = study.Call.parse(values.words)
    asked = study.Study.open(call)
    if call.command == "answer":
        return answer.report(asked)
    # Those of a study that begins were checked when they were found.
    pending = asked.pending() if asked.look.done else []
    if pending:
        study.find_suspects(call, pending)
    print(*plan.lines(asked), sep="\n")
    for line in plan.forecast(asked):
        print(line, file=sys.stderr)
    return 0


_ROWS = (Option("help", "print this help"), Option("version", "print the version"))
_USAGE = "Usage: analysis ssantagonist NAME=VALUE...\n"
PROGRAM = Program("ssantagonist", _USAGE, _ROWS, lambda values: None, run)
