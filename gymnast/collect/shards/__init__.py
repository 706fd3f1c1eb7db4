"""Collecting on several hosts, with the same numbers as in one process.

The env copies of a run are divided into shards, one per host. The steps that a shard makes in one rollout
are a function of the parameters and of its state after the rollout before, so that any host can compute
them, or compute them again after another one died. They are joined in the order of the shards, never in
the order of arrival (docs/decisions/0024-hosts.md).
"""
