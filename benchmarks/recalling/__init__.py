"""What asking costs."""
