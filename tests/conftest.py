"""What holds for every test."""

from hypothesis import settings

# A busy machine is slow, not wrong: examples have no deadline of their own, tests have a timeout.
settings.register_profile("slowwave", deadline=None)
settings.load_profile("slowwave")
