"""Beyond the bounds of the models: random events, given to a core and to `Step` alike."""
