"""What stands around the protocols in a simulation: the layer below them, as the specification has it."""
