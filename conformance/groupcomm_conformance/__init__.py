"""Holds specification and implementation of groupcomm to each other: model checking and conformance."""
