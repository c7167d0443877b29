"""Files: YAML with places in its errors, and caches that are written whole or not at all."""
