"""Abstract layers: cores that stand at the bottom of a stack for protocols that are not written yet.

Each gives what its module in `spec/common` says, over a network that does part of the work: it says with
which `Carriage` its datagrams have to travel. A protocol that takes its place needs no such network.
"""
