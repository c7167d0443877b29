"""Groups outside of the model: logs of members that ran, groups under real faults, and real JGroups."""
