"""The number that tells one machine from another."""

import os
import tempfile
import unittest

from steplens._host_uid import host_uid


class HostUid(unittest.TestCase):
    def uid(self, *addresses):
        with tempfile.TemporaryDirectory() as network:
            for place, address in enumerate(addresses):
                os.mkdir(os.path.join(network, f"eth{place}"))
                with open(os.path.join(network, f"eth{place}", "address"), "w", encoding="ascii") as file:
                    file.write(address + "\n")
            return host_uid(network)

    def test_two_polynomials_side_by_side(self):
        high = low = 0
        for byte in b"00163e000001":
            high, low = (high * 29 + byte) % 2**32, (low * 131 + byte) % 2**32
        self.assertEqual(self.uid("00:16:3E:00:00:01"), str(high * 2**32 + low))

    def test_addresses_made_up_by_software_count_only_alone(self):
        card, bridge = "00:16:3e:00:00:01", "02:42:ac:11:00:02"
        self.assertEqual(self.uid(bridge, card), self.uid(card))
        self.assertNotEqual(self.uid(bridge), "")

    def test_the_order_of_cards_does_not_matter(self):
        self.assertEqual(self.uid("00:16:3e:00:00:01", "00:16:3e:00:00:02"), self.uid("00:16:3e:00:00:02", "00:16:3e:00:00:01"))

    def test_a_machine_without_cards_has_none(self):
        self.assertEqual(self.uid("00:00:00:00:00:00", "x"), "")
        self.assertEqual(host_uid("/nowhere"), "")


if __name__ == "__main__":
    unittest.main()
