"""Damaged snapshots, for the tests of hosts that take them from anyone."""

import struct

import xxhash


def sign(snapshot):
    """A snapshot with right checksums: docs/FORMAT.md."""
    offset, length = struct.unpack_from("<IQ", snapshot, 20)
    if offset + length > len(snapshot):
        return snapshot
    whole = bytearray(snapshot)
    digest = xxhash.xxh3_128_intdigest(bytes(whole[offset : offset + length]))
    struct.pack_into("<QQ", whole, 32, digest & (2**64 - 1), digest >> 64)
    seed = xxhash.xxh3_64_intdigest(bytes(whole[:56]))
    struct.pack_into("<Q", whole, 56, xxhash.xxh3_64_intdigest(bytes(whole[64:offset]), seed))
    return bytes(whole)


def flip(r, data, low, high):
    data = bytearray(data)
    for _ in range(r.choice((1, 1, 1, 2, 5, 40))):
        at = r.randrange(low, high)
        data[at] = r.choice((data[at] ^ 1 << r.randrange(8), r.randrange(256), 0, 255))
    return bytes(data)


def flip_snapshot(r, snapshot):
    """One that is damaged in its block, and has the checksums that belong to it."""
    (offset,) = struct.unpack_from("<I", snapshot, 20)
    return sign(flip(r, snapshot, offset, min(len(snapshot), offset + r.choice((64, 256, len(snapshot))))))


def damage(r, snapshot):
    """A damaged snapshot, and whether its checksums are right, so that only a kind's own checks can refuse it."""
    way = r.randrange(8)
    if way < 4:
        return flip_snapshot(r, snapshot), True
    if way == 4:  # its header and spec, too
        return sign(flip(r, snapshot, 0, len(snapshot))), True
    if way == 5:
        return snapshot[:r.randrange(len(snapshot))], False
    if way == 6:
        return snapshot + r.randbytes(r.randrange(1, 100)), False
    return flip(r, snapshot, 0, len(snapshot)), False


SPECS = ["bloom:memory=1K", "bloom:limit=50,fpr=0.01,grow=2", "bloom:memory=2K,layout=line", "lru:memory=4K", "lru:memory=8K,shards=4",
         "window:window=20,memory=4K", "choosy:fpr=0.01,distinct=200,memory=4K", "stable:memory=2K", "spectral:memory=4K",
         "spectral:memory=4K,update=plain", "spectral_rm:memory=8K", "dyadic:bits=10,memory=8K", "decay:halflife=20,memory=8K",
         "aging:period=10,memory=8K", "top:memory=16K", "weighted:class_bits=3:5,memory=2K"]
