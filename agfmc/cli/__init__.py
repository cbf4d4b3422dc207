"""Commands: parsers and glue; the only floor that reads argv or prints."""
