"""May the answer to query A be served for query B? A pure decision with every reason.

`reading.py` reads a query, `comparison.py` lays two readings side by side, `guards.py` knows what must never differ,
`decision.py` weighs the rest; `lexicon.py` is what they know of English, `shipped.py` the calibrated rule.
"""

from harness.core.equivalence.decision import LEAST_REQUIRED, Decision, Rule, decide
from harness.core.equivalence.guards import GUARDS, Verdict
from harness.core.equivalence.shipped import SHIPPED, rule_for

__all__ = ["GUARDS", "LEAST_REQUIRED", "SHIPPED", "Decision", "Rule", "Verdict", "decide", "rule_for"]
