"""Small layers that use every way of passing that a stack has, and `Stack` over them as one core: `stack`."""
