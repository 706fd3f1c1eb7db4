"""The same tasks on other libraries; these files run in environments of their own, without gymnast.

Each is `python -m benchmarks.peers.NAME TASK ENV_STEPS THREADS` and prints one sample. What is done
once (imports, what a first update loads, compilation) is done before the clock starts.
"""
