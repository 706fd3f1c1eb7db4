"""The format version of metrics.db, apart from the code that opens it, which imports sqlite3."""

VERSION = 2
"""2: renamed metrics, such as `rollout/neg_logprob`."""
