"""A number that tells one machine from another: a hash of the addresses of its network cards, as the device's own profiler makes it."""

from __future__ import annotations

import os

_NETWORK = "/sys/class/net"
_LOCALLY_ADMINISTERED = 0x02  # a bit of the first byte: made up by software


def host_uid(network: str = _NETWORK) -> str:
    """Decimal text; empty if the machine shows no network card."""
    addresses = sorted(_addresses(network))
    lasting = [address for address in addresses if not int(address[:2], 16) & _LOCALLY_ADMINISTERED]
    text = "-".join(lasting or addresses)
    return str(_polynomial(text, 29) << 32 | _polynomial(text, 131)) if text else ""


def _addresses(network: str) -> set[str]:
    """Hexadecimal digits alone."""
    found = set()
    try:
        cards = os.listdir(network)
    except OSError:
        return found
    for card in cards:
        try:
            with open(os.path.join(network, card, "address"), encoding="ascii") as file:
                digits = file.read().strip().replace(":", "").lower()
            if len(digits) == 12 and int(digits, 16):
                found.add(digits)
        except (OSError, ValueError):
            continue
    return found


def _polynomial(text: str, prime: int) -> int:
    value = 0
    for byte in text.encode("ascii"):
        value = (value * prime + byte) & 0xFFFFFFFF
    return value
