"""Equivalence: may the answer to query A be served for query B? A pure decision with reasons.

`spelling.py` normalises the spelling of a query, `reading.py` parses it, `comparison.py` compares two readings,
`guards.py` checks what must never differ (`roles.py`: who does it to whom; `polarity.py`: opposites), `decision.py`
weighs the rest, with a verifier or (`requirement.py`) without; `lexicon.py` has the English word lists, `shipped.py`
the calibrated rule.

Queries in other languages: `languages.py` finds the language of a pair, `word_lists/` has the words of each,
`word_reading.py` parses a query with them (into `tokens.py`), `other_language.py` has the guards.
"""

from harness.core.equivalence.decision import Decision, Examined, Rule, decide, examine, judge
from harness.core.equivalence.guards import GUARDS, Verdict
from harness.core.equivalence.requirement import LEAST_REQUIRED
from harness.core.equivalence.shipped import SHIPPED, promised, rule_for

__all__ = [
    "GUARDS",
    "LEAST_REQUIRED",
    "SHIPPED",
    "Decision",
    "Examined",
    "Rule",
    "Verdict",
    "decide",
    "examine",
    "judge",
    "promised",
    "rule_for",
]
