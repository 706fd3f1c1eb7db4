"""Videos and pictures of stored episodes and matches."""

import os

os.environ.setdefault(
    "PYGAME_HIDE_SUPPORT_PROMPT", "1"
)  # before pygame is imported, which prints it
