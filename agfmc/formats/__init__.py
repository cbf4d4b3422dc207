"""Files: one reader and one writer for each format."""
