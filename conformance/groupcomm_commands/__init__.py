"""The commands of `groupcomm`: what a person types, and what is printed."""
