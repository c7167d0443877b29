"""Abstract layers: cores that stand at the bottom of a simulated stack where NAKACK or UNICAST is not in it.

Each gives what its module in `spec/common` says, over a network that does part of the work: it says with
which `Carriage` its datagrams have to travel. So the layers above meet all that the module allows, and each
of the two protocols can be simulated without the other. Nothing that runs needs them.
"""
