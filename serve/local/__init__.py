"""The local service: a Ray head of its own, the application on it, and how both end."""
