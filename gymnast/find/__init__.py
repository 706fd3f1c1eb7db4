"""One search over presets, environments, metrics, settings, documentation and runs; and reading the pages."""
