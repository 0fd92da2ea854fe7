"""The system's clock."""

from datetime import UTC, datetime


class SystemClock:
    """Implements ports.Clock."""

    def now(self) -> datetime:
        """The current instant in UTC."""
        return datetime.now(UTC)
