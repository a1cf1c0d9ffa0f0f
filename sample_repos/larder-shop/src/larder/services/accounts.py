"""Signing up and signing in."""

from larder.errors import ShopError, SignInRequired
from larder.infra.passwords import digest_matches, make_digest
from larder.models import Customer
from larder.repositories import CustomerRepository

SHORTEST = 10


class AccountService:
    def __init__(self, customers: CustomerRepository) -> None:
        self._customers = customers
        self._nobody = make_digest("nobody has this one")

    def sign_up(self, email: str, password: str) -> Customer:
        if "@" not in email:
            raise ShopError("An e-mail address is needed")
        if len(password) < SHORTEST:
            raise ShopError(f"At least {SHORTEST} characters are needed")
        return self._customers.add(email.strip().lower(), make_digest(password))

    def sign_in(self, email: str, password: str) -> Customer:
        """Takes as long for an address without an account, so that time does not tell who has one."""
        customer = self._customers.find_by_email(email.strip().lower())
        known = digest_matches(password, customer.password_hash if customer else self._nobody)
        if customer is None or not known:
            raise SignInRequired("Address or password is wrong")
        return customer
