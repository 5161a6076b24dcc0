"""What a trace file holds, unpacked: for tests that look for what must not be in it. Written from docs/format.md, and not by the product's own
reader, which shows only what it knows of."""

import ctypes
import pathlib

MAGIC, MARKER = bytes.fromhex("894346540d0a1a0a"), bytes.fromhex("c74346b1")
FILE_HEADER_BYTES, BLOCK_HEADER_BYTES = 32, 32
RAW_BYTES_MAX = 4 << 20
STORED, ZSTD = 0, 1


class Unreadable(Exception):
    """A file that is not as docs/format.md says."""


def _library():
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return library


def _number(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def _varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def _groups(payload, library):
    at = 0
    while at < len(payload):
        codec = payload[at]
        raw, at = _varint(payload, at + 1)
        stored, at = _varint(payload, at)
        packed, at = payload[at:at + stored], at + stored
        if codec not in (STORED, ZSTD) or raw > RAW_BYTES_MAX or len(packed) != stored:
            raise Unreadable(f"a group of codec {codec}, {raw} bytes, of which {len(packed)} of {stored} are there")
        if codec == STORED:
            yield packed
            continue
        room = ctypes.create_string_buffer(raw)
        if library.ZSTD_decompress(room, raw, packed, stored) != raw:
            raise Unreadable("a group does not unpack to its length")
        yield room.raw


def unpacked(path):
    """All blocks' payloads, one behind the other. Unreadable, if a byte of the file is in none."""
    data, library = pathlib.Path(path).read_bytes(), _library()
    if data[:len(MAGIC)] != MAGIC:
        raise Unreadable(f"{path} is no trace")
    out, at = bytearray(), _number(data, 12)
    while at < len(data):
        if data[at:at + len(MARKER)] != MARKER:
            raise Unreadable(f"{path}: no block at byte {at}")
        begin = at + BLOCK_HEADER_BYTES
        at = begin + _number(data, at + 8)
        for group in _groups(data[begin:at], library):
            out += group
    return bytes(out)


def holds(path, word, known):
    """Whether `word` is in the file, in any case, as UTF-8 or as UTF-16. `known` must be in it: else nothing is said by what is not."""
    content = unpacked(path).lower()
    if known.lower().encode() not in content:
        raise Unreadable(f"{path} lacks {known!r}, which is in the program")
    return any(word.lower().encode(encoding) in content for encoding in ("utf-8", "utf-16-le"))
