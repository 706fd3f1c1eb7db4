"""The studio: a local web app to watch, compare and control runs. See docs/decisions/0016-studio.md."""
