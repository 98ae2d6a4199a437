# SPDX-License-Identifier: Apache-2.0
"""The hash of a pack's superblock: XXH3-64 of its first 56 bytes, as packs/FORMAT.md says."""

HASHED = 56
PLACE = 56
MASK = (1 << 64) - 1
PRIME = 0x9E3779B185EBCA87
AVALANCHE = 0x165667919E3779F9
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
)


def word(data, at):
    return int.from_bytes(data[at : at + 8], "little")


def mix(data, at, secret):
    """16 bytes of the data with 16 of the secret: both halves of a product, folded."""
    product = (word(data, at) ^ word(SECRET, secret)) * (word(data, at + 8) ^ word(SECRET, secret + 8))
    return (product & MASK) ^ (product >> 64)


def xxh3_56(data):
    """XXH3-64 with seed 0 of exactly 56 bytes."""
    places = ((16, 32), (HASHED - 32, 48), (0, 0), (HASHED - 16, 16))
    h = (HASHED * PRIME + sum(mix(data, at, secret) for at, secret in places)) & MASK
    h ^= h >> 37
    h = h * AVALANCHE & MASK
    return h ^ h >> 32


def seal(pack):
    """Writes the right hash into a pack's superblock."""
    pack[PLACE : PLACE + 8] = xxh3_56(pack[:HASHED]).to_bytes(8, "little")
