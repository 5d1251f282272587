"""May the answer to query A be served for query B? A pure decision with every reason.

`spelling.py` writes a query in one way, `reading.py` reads it, `comparison.py` lays two readings side by side,
`guards.py` knows what must never differ (`roles.py`: who does it to whom; `polarity.py`: opposites), `decision.py`
weighs the rest, with a verifier or (`requirement.py`) without; `lexicon.py` is what they know of English, `shipped.py`
the calibrated rule.
"""

from harness.core.equivalence.decision import Decision, Examined, Rule, decide, examine, judge, sureness
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
    "sureness",
]
