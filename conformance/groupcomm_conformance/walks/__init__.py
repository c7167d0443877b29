"""Walks: paths of a model's state graph, and the core that follows them."""
