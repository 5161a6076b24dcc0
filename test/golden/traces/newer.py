"""newer.py IN OUT: the same trace, with a file header that says a later version of the format (docs/format.md)."""
import struct
import sys

P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5, MASK = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5, (1 << 64) - 1


def rotate(value, bits):
    return ((value << bits) | (value >> (64 - bits))) & MASK


def xxh64_of_24_bytes(data):
    total = (P5 + 24) & MASK
    for (lane,) in struct.iter_unpack("<Q", data):
        total ^= rotate(lane * P2 & MASK, 31) * P1 & MASK
        total = (rotate(total, 27) * P1 + P4) & MASK
    total = (total ^ total >> 33) * P2 & MASK
    total = (total ^ total >> 29) * P3 & MASK
    return total ^ total >> 32


data = bytearray(open(sys.argv[1], "rb").read())
assert struct.unpack_from("<Q", data, 24)[0] == xxh64_of_24_bytes(bytes(data[:24])), "the checksum of the original"
struct.pack_into("<I", data, 8, 999)
struct.pack_into("<Q", data, 24, xxh64_of_24_bytes(bytes(data[:24])))
open(sys.argv[2], "wb").write(data)
