"""Bundles: small archives of a run for bug reports, without anything private; `runs.unpack` opens them."""
