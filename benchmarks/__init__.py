"""How fast training is, beside other libraries: `python -m benchmarks.run`."""
