"""Training speed compared with other libraries: `python -m benchmarks.run`."""
