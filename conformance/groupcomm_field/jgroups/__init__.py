"""Real JGroups, driven by schedules of ours and held against the reference. See docs/jgroups.md."""
