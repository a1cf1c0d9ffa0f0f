"""Abandoned baskets give their stock back."""

import logging

from larder.services import InventoryService

log = logging.getLogger(__name__)


def release_expired_holds(inventory: InventoryService) -> None:
    ended = inventory.give_back_overdue()
    if ended:
        log.info("%d holds of abandoned baskets ended", ended)
