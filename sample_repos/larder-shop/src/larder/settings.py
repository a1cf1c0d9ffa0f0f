"""Everything that can be configured, read from the environment once."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from larder.models import Money


@dataclass(frozen=True)
class Settings:
    database: str = "var/larder.sqlite3"
    secrets: tuple[str, ...] = ("development-only",)
    hold_minutes: int = 30
    free_delivery_from: Money = field(default_factory=lambda: Money.parse("60.00"))
    delivery_fee: Money = field(default_factory=lambda: Money.parse("4.90"))
    payment_url: str | None = None
    payment_key: str | None = None
    mail_dir: str | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Raises ValueError for a value that cannot be read."""
        defaults = cls()
        return cls(
            database=environment.get("LARDER_DATABASE", defaults.database),
            secrets=tuple(environment.get("LARDER_SECRET", ",".join(defaults.secrets)).split(",")),
            hold_minutes=int(environment.get("LARDER_HOLD_MINUTES", defaults.hold_minutes)),
            free_delivery_from=Money.parse(environment.get("LARDER_FREE_DELIVERY_FROM", "60.00")),
            payment_url=environment.get("LARDER_PAYMENT_URL"),
            payment_key=environment.get("LARDER_PAYMENT_KEY"),
            mail_dir=environment.get("LARDER_MAIL_DIR"),
        )
