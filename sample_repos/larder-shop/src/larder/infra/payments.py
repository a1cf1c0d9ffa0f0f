"""The payment provider. Without an address every card is accepted, which is what tests and laptops want."""

import json
import urllib.error
import urllib.request
from typing import Protocol

from larder.errors import CardDeclined
from larder.models import Money


class PaymentGateway(Protocol):
    def charge(self, card: str, amount: Money, idempotency_key: str) -> str:
        """Takes the money and returns the id of the charge. The same key never charges twice."""

    def give_back(self, charge_id: str, amount: Money) -> None: ...


class HttpGateway:
    def __init__(self, url: str, key: str) -> None:
        self._url = url.rstrip("/")
        self._key = key

    def charge(self, card: str, amount: Money, idempotency_key: str) -> str:
        answer = self._post("/charges", {"card": card, "cents": amount.cents}, idempotency_key)
        return str(answer["id"])

    def give_back(self, charge_id: str, amount: Money) -> None:
        self._post(f"/charges/{charge_id}/refunds", {"cents": amount.cents}, f"refund-{charge_id}")

    def _post(self, path: str, body: dict[str, object], key: str) -> dict[str, object]:
        request = urllib.request.Request(
            self._url + path,
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._key}", "Idempotency-Key": key},
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return dict(json.load(response))
        except urllib.error.HTTPError as error:
            if error.code == 402:
                raise CardDeclined("The card was declined") from error
            raise


class AcceptingGateway:
    """Remembers charges in memory and refuses the card number that ends in 0002."""

    def __init__(self) -> None:
        self.charges: dict[str, tuple[str, Money]] = {}
        self.given_back: list[str] = []

    def charge(self, card: str, amount: Money, idempotency_key: str) -> str:
        if card.endswith("0002"):
            raise CardDeclined("The card was declined")
        charge_id, _ = self.charges.setdefault(idempotency_key, (f"ch_{len(self.charges) + 1}", amount))
        return charge_id

    def give_back(self, charge_id: str, amount: Money) -> None:
        self.given_back.append(charge_id)
