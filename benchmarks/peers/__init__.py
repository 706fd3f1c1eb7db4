"""The same tasks on other libraries; these files run in `benchmarks/.venv`, without gymnast."""
