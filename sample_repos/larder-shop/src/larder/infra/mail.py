"""Leaves messages in a folder, where the relay fetches them."""

import logging
import uuid
from email.message import EmailMessage
from pathlib import Path

log = logging.getLogger(__name__)


class Outbox:
    def __init__(self, folder: str | None) -> None:
        self._folder = Path(folder) if folder else None
        self.sent: list[EmailMessage] = []

    def send(self, to: str, subject: str, text: str) -> None:
        """Never fails: a message that cannot be written is logged."""
        message = EmailMessage()
        message["To"], message["Subject"] = to, subject
        message.set_content(text)
        self.sent.append(message)
        if self._folder is None:
            return
        try:
            (self._folder / f"{uuid.uuid4().hex}.eml").write_bytes(bytes(message))
        except OSError as error:
            log.warning("message to %s is lost: %s", to, error)
