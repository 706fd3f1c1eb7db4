"""How well assistants can work with gymnast: tasks with checkable answers, by MCP and by the command line."""
