"""The same tasks on other libraries; these files run in environments of their own, without gymnast.

Each is `python -m benchmarks.peers.NAME TASK ENV_STEPS THREADS` and prints one sample. One-time costs
(imports, libraries loaded by the first update, compilation) are paid before timing starts.
"""
