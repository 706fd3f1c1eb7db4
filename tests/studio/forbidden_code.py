"""Code of a user, which leaves a mark when it is imported."""

import os
from pathlib import Path

Path(os.environ["IMPORT_MARK"]).write_text("imported")
