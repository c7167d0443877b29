"""TLA+ values, configurations and traces."""
