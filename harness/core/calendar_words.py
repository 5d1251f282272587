"""English names of months and days, in lower case."""

MONTHS = tuple("january february march april may june july august september october november december".split())
DAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
MONTH, DAY = "|".join(MONTHS), "|".join(DAYS)
"""The same as alternatives of a pattern."""
