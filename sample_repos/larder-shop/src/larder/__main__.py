"""`larder serve` and `larder work`."""

import argparse
import logging
from pathlib import Path
from wsgiref.simple_server import make_server

from larder.app import create_shop
from larder.settings import Settings


def main() -> None:
    parser = argparse.ArgumentParser(prog="larder", description=__doc__)
    parser.add_argument("command", choices=["serve", "work"])
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    settings = Settings.from_environment()
    Path(settings.database).parent.mkdir(parents=True, exist_ok=True)
    shop = create_shop(settings)
    if arguments.command == "work":
        shop.scheduler().run_due()
        return
    with make_server("127.0.0.1", arguments.port, shop.application()) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
