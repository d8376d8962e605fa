"""What is said in the turn that everything here takes; peers say the same."""

from __future__ import annotations

_WORDS = "every step is on the thread, so a run can be left, resumed, rewound and read from any language; "
QUESTION = (_WORDS * 4)[:300]
PLAN = (_WORDS * 4)[:60]
RESULT = (_WORDS * 4)[:100]
ANSWER = (_WORDS * 8)[:430]
ARGS = '{"order":"A-1001"}'
# Text that is new in a turn, in bytes: message, both model steps, arguments and results.
TEXT_BYTES = len(QUESTION + PLAN + ANSWER) + 2 * len(ARGS + RESULT)
# The records that a turn has to make durable: one wait for each group.
RECORDS = ((QUESTION,), (PLAN + 2 * ARGS,), (RESULT, RESULT), (ANSWER,))
