"""The control language: tree, parser, writer, coding matrix; the rows of the learners."""
