"""The format version of metrics.db, apart from the code that opens it, which imports sqlite3."""

VERSION = 3
"""2: renamed metrics, such as `rollout/neg_logprob`. 3: summaries of rows, and an index of schemas."""
READ_VERSIONS = (2, VERSION)
"""Versions that can be read. A file of an older one is converted when it is opened for writing."""
