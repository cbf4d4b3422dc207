"""The work of commands, after their options have become a request: it loads all libraries."""
