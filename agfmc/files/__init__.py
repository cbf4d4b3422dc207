"""Files that appear whole, bounded reading, gzip, sidecars, numbers in text, stored results."""
