"""Messages of the library go to the logger "stoker"."""

import logging

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def write(level: str, text: str) -> None:
    """Passes one line on."""
    logging.getLogger("stoker").log(_LEVELS[level], text)
