"""`python -m gymnast`."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # The working directory, which may be a runs directory: a file there must not replace a module. Modules of
    # the user are still found in it (`import_object.py`).
    del sys.path[0]

from gymnast.cli import main

if __name__ == "__main__":
    main()
