"""Documents to sectioned messages, and those of them that are statements already."""
