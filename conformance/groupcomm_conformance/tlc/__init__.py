"""TLC: the Java command line, its output and its errors."""
