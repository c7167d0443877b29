"""The site: all documents, and a page a protocol on which note, specification, code and errata stand side by side."""
