"""Prompts for assistants: Markdown files with declared arguments, filled with the data of runs.

`NAME.md` is a prompt; its front matter declares its title, its arguments and how many runs it is about.
`_rules.md` and `_data.md` are parts that all of them contain. Adding a file adds a prompt: docs/prompts.md.
"""
