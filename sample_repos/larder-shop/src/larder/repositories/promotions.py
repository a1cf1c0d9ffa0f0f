"""Discount codes."""

from datetime import datetime

from larder.models import Money, Promotion, PromotionKind
from larder.repositories.base import Repository


class PromotionRepository(Repository):
    noun = "code"

    def find(self, code: str) -> Promotion | None:
        row = self._db.row("SELECT * FROM promotions WHERE code = ?", code.upper())
        if row is None:
            return None
        ends = datetime.fromisoformat(row["ends"])
        return Promotion(row["code"], PromotionKind(row["kind"]), row["value"], Money(row["minimum"]), ends)

    def save(self, promotion: Promotion) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO promotions VALUES (?, ?, ?, ?, ?)",
            promotion.code.upper(), promotion.kind, promotion.value, promotion.minimum.cents,
            promotion.ends.isoformat(),
        )  # fmt: skip
