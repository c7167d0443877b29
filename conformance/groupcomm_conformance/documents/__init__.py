"""Documents that are generated from manifests and specifications, and gated."""
