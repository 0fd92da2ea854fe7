"""Times and dates in what people write.

``parse_time`` reads a written time; ``resolve_dates`` makes relative dates in a text absolute.
"""

from pipeline.text.times import parse_time

__all__ = ["parse_time"]
