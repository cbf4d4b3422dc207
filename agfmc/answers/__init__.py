"""Answers written and read, and answers beside the truth."""
