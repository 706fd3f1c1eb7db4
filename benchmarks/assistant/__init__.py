"""Measures how well assistants can work with gymnast, by MCP and by the command line."""
