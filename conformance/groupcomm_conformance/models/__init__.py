"""Models: manifests, runs of TLC over them, and what is judged."""
