# format_reader.py - answers from snapshots, written from docs/FORMAT.md alone: a second implementation that shows that
# the page is enough.  Usage: python3 format_reader.py SNAPSHOT < keys.  Prints the count of each key (kinds that count)
# or 1 (seen) and 0 (not seen), and a tab and the key.
import struct
import sys
import xxhash

M64 = 2**64 - 1


def scale(x, n):
    return x * n >> 64


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def sip(key, secret):
    half = [int(secret[:16], 16), int(secret[16:], 16)]
    v = [half[i % 2] ^ c for i, c in enumerate(
        (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573))]

    def turn(x, n):
        return (x << n | x >> 64 - n) & M64

    def rounds(n):
        for _ in range(n):
            v[0] = v[0] + v[1] & M64
            v[2] = v[2] + v[3] & M64
            v[1], v[3] = turn(v[1], 13) ^ v[0], turn(v[3], 16) ^ v[2]
            v[0] = turn(v[0], 32)
            v[2] = v[2] + v[1] & M64
            v[0] = v[0] + v[3] & M64
            v[1], v[3] = turn(v[1], 17) ^ v[2], turn(v[3], 21) ^ v[0]
            v[2] = turn(v[2], 32)

    padded = key + bytes(7 - len(key) % 8) + bytes([len(key) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(1)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(3)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def u64(b, at):
    return struct.unpack_from("<Q", b, at)[0]


def read_bits(b, at, bit, width):
    first, last = bit // 8, (bit + width + 7) // 8
    return int.from_bytes(b[at + first:at + last], "little") >> bit % 8 & (1 << width) - 1


def round_up(n, multiple):
    return -(-n // multiple) * multiple


def positions(x, k, size, stride):
    for i in range(k):
        yield i * stride + scale(x, size)
        x = (x * 0xD1342543DE82EF95 + 1) & M64


class Snapshot:
    def __init__(self, data):
        magic, form, self.kind_number, self.version, zero, spec_len, offset, length, low, high, zero2, check = \
            struct.unpack_from("<8sHHHHIIQQQQQ", data)
        assert magic == b"\x89EVB\r\n\x1a\n" and form == 3 and zero == zero2 == 0
        assert 1 <= spec_len <= 447 and offset == 64 + round_up(spec_len, 64)
        assert check == xxhash.xxh3_64_intdigest(data[64:offset], xxhash.xxh3_64_intdigest(data[:56]))
        assert not any(data[64 + spec_len:offset])
        block = data[offset:offset + length]
        assert len(block) == length and xxhash.xxh3_128_intdigest(block) == low | high << 64
        self.kind, options = data[64:64 + spec_len].decode().split(":", 1)
        self.o = dict(pair.split("=", 1) for pair in options.split(","))
        self.shards = int(self.o["shards"])
        assert length % (64 * self.shards) == 0
        self.span = length // self.shards
        self.parts = [block[i * self.span:(i + 1) * self.span] for i in range(self.shards)]
        self.cells = int(self.o["cells"])
        assert [self.o[x] for x in ("cells", "seed", "shards", "keys", "hash")]

    def hash_bytes(self, b):
        if self.o["hash"] == "sip":
            return sip(b, self.o["secret"])
        return xxhash.xxh3_64_intdigest(b, int(self.o["seed"]))

    def hash(self, key):
        if self.kind == "dyadic":
            return int(key) + (2**63 if self.o["keys"] == "i64" else 0)
        if self.o["keys"] in ("i64", "u64"):
            return self.hash_bytes((int(key) & M64).to_bytes(8, "little"))
        return self.hash_bytes(key)

    def ask(self, key):
        h = self.hash(key)
        if self.kind == "dyadic":
            return self.count_value(h)
        shard = scale(h, self.shards)
        if self.shards > 1:
            h = h * 0x9E3779B97F4A7C15 & M64
        return getattr(self, "ask_" + self.kind)(self.parts[shard], h)

    # Bits and cells

    def in_line(self, b, at, h, k):
        for _ in range(k):
            h = (h * 0xD1342543DE82EF95 + 1) & M64
            if not read_bits(b, at, h >> 55, 1):
                return False
        return True

    def ask_bloom(self, b, h):
        k, layout = int(self.o["k"]), self.o["layout"]
        if layout == "one":
            return int(all(read_bits(b, 64, p, 1) for p in positions(h, k, self.cells, 0)))
        at, part = 64, self.cells // k
        for i in range(1 + int(self.o.get("grown", 0))):
            e = i.bit_length()
            arrays = k + (2 * e if layout == "line" else e)
            cells = arrays * part if i else self.cells
            if layout == "line":
                cells = round_up(cells, 512)
                if self.in_line(b, at + 64 * scale(h, cells // 512), h, arrays):
                    return 1
            elif all(read_bits(b, at, p, 1) for p in positions(h, arrays, part, part)):
                return 1
            at += round_up(cells // 8 + 9 if i else (cells + 71) // 8, 64)
            part *= int(self.o.get("grow", 1))
            h = h * 0x9E3779B97F4A7C15 & M64
        return 0

    def ask_cells(self, b, h):
        w = int(self.o["width"])
        return int(all(read_bits(b, 128, p * w, w) for p in positions(h, int(self.o["k"]), self.cells, 0)))

    ask_stable = ask_importance = ask_cells

    def ask_sampled(self, b, h):
        k = int(self.o["k"])
        part, at = self.cells // k, 64 + round_up(8 * k, 64)
        return int(all(read_bits(b, at, p, 1) for p in positions(h, k, part, part)))

    ask_rsbf = ask_bsbf = ask_bsbfsd = ask_rlbsbf = ask_sampled

    def ask_weighted(self, b, h):
        hot, classes = int(self.o["hot"]), len(self.o["class_bits"].split(":"))
        query = b[72:72 + classes]
        slots = round_up(hot + hot // 3 + 1, 16) if hot else 0
        k = min(query)
        if hot:
            wanted, slot = (mix(h) & 0xFFFFFFF8) or 8, scale(h, slots)
            while True:
                entry = struct.unpack_from("<I", b, 128 + 4 * slot)[0]
                if entry == 0 or entry & ~7 == wanted:
                    break
                slot = (slot + 1) % slots
            k = query[entry & 7]
        return int(all(read_bits(b, 128 + 4 * slots, p, 1) for p in positions(h, k, self.cells, 0)))

    def ask_choosy(self, b, h):
        k, at, m = int(self.o["k"]), 128 + 64 * scale(h, self.cells // 512), mix(h)
        places = [m >> 9 * i & 511 for i in range(6)] + [mix(m) >> 9 * i & 511 for i in range(6)]
        return int(all(read_bits(b, at, p, 1) for p in places[:k]))

    # Fingerprints

    def ask_lru(self, b, h):
        w, slots, keep = int(self.o["print_bits"]), int(self.o["slots"]), self.o["keep"]
        buckets, bits = self.cells // slots, min(w + 8, 32)
        wanted = 1 + ((h & (1 << bits) - 1) * ((1 << w) - 1) >> bits)
        bucket, at = scale(h, buckets), 128 if keep == "important" else 64
        if self.o["bucket"] == "word":
            word = u64(b, at + 8 * bucket)
            return int(any(word >> i * w & (1 << w) - 1 == wanted for i in range(slots)))
        leaders = 0
        if keep == "adaptive" and buckets >= 64:
            leaders = min(256, max(1, buckets // 768))
        elif keep == "important":
            leaders = min(256, max(1, buckets // 384))
        winner = struct.unpack_from("<I", b, 32)[0]
        if bucket < leaders and winner > 0:
            bucket = buckets + bucket * (4 if keep == "important" else 2) + winner - 1
        at += 64 * bucket
        for i in range(slots):
            if w % 8 == 0:
                there = read_bits(b, at, i * w, w)
            else:
                n = 128 // w
                bit = 64 * (i // n) + i % n * (w // 2)
                there = read_bits(b, at, bit, w // 2) | read_bits(b, at, 256 + bit, w // 2) << w // 2
            if there == wanted:
                return 1
        return 0

    def ask_window(self, b, h):
        eras, w = int(self.o["eras"]), int(self.o["print_bits"])
        era, size = u64(b, 64), int(self.o["line"])
        per_line = 504 // (eras + 1) * (eras + 1) if self.o["mode"] == "rotate" else 64 if size == 64 else 96
        at = 384 + size * scale(h, self.cells // per_line)
        line = int.from_bytes(b[at:at + size], "little")
        ended = (era - line) % 256
        if self.o["mode"] == "rotate":
            return self.ask_rotating(line, h, era, ended, eras + 1, w)
        if ended > eras:
            return 0
        w, wn, nn, head = line >> 8 & 31, line >> 13 & 31, line >> 18 & 127, line >> 25 & 127
        if w == 0:
            return 0
        slots = min((8 * size - 32 - eras) // (w + 1), 64 if size == 64 else 96)
        marks = [line >> 8 * size - slots - eras + i & 1 for i in range(slots + eras)]
        entry = passed = 0
        for mark in marks:
            if mark == 0:
                known = wn if entry < nn else w
                print_at = 32 + (head + entry) % slots * w
                if passed >= ended and ((line >> print_at) ^ h) & (1 << known) - 1 == 0:
                    return 1
                entry += 1
            else:
                passed += 1
        return 0

    def ask_rotating(self, line, h, era, ended, g, k):
        alive = 0
        for age in range(g - min(ended, g)):
            alive |= 1 << (era - ended - age) % g
        found = alive
        for place in positions(mix(h), k, 504 // g, 0):
            found &= line >> 8 + place * g
        return int(found != 0)

    # Counters

    def counter(self, b, at, size, i, store):
        if store == "u32":
            value = struct.unpack_from("<I", b, at + 64 + 4 * i)[0]
            return value if value < 2**32 - 1 else 2**48 - 1
        if store == "wide":
            return self.wide(u64(b, at + 64 + i // 16 * 8), i % 16)
        if store == "line":
            table = round_up(size // 32, 64) + 64
            room = (size - 64 - table) // 64
            each = max(-(-self.cells // room), 8)
        else:
            each = u64(b, at + 16)
        lines, line_at = -(-self.cells // each), at + 64 + 64 * (i // each)
        line = int.from_bytes(b[line_at:line_at + 64], "little")
        if not line & 1:
            return 2**48 - 1 if line >> 1 + i % each & 1 else 0
        d, bit, below = (line >> 510) + 1, 1, 0
        for _ in range(i % each + 1):
            u = 0
            while not line >> bit & 1:
                bit, u = bit + 1, u + 1
            bit, below = bit + 1, below + u
        value = sum(1 << d * j for j in range(u)) + (line >> 509 - d * below & (1 << d * u) - 1)
        if value or not line >> 509 & 1:
            return value
        entries = at + 64 + 64 * lines
        if store == "line":
            n = (size - 64 - 64 * lines) // 16
            slot = scale((i + 1) * 0x9E3779B97F4A7C15 & M64, n)
            while u64(b, entries + 16 * slot) not in (0, i + 1):
                slot = (slot + 1) % n
            return u64(b, entries + 16 * slot + 8)
        return dict((u64(b, entries + 16 * j), u64(b, entries + 16 * j + 8))
                    for j in range(u64(b, at + 8))).get(i + 1, 0)

    def wide(self, word, cell):
        codes = word >> 54 & 31, word >> 59
        first, size = cell, 1
        if codes == (31, 31):
            return word & 2**48 - 1
        code = codes[cell // 8]
        if code == 25:
            first, size = cell & ~7, 8
        else:
            digit = (code // 5, code % 5)[cell // 4 % 2]
            if digit == 4:
                first, size = cell & ~3, 4
            elif digit >> (cell // 2 % 2) & 1:
                first, size = cell & ~1, 2
        return word >> 54 * first // 16 & (1 << 54 * (first + size) // 16 - 54 * first // 16) - 1

    def least(self, b, at, size, h, k, span, store):
        span = span or self.cells
        first, part = scale(h, self.cells - span + 1), span // k
        counters = [self.counter(b, at, size, first + p, store) for p in positions(mix(h), k, part, part)]
        return min(counters)

    def ask_spectral(self, b, h):
        store, size = self.o["store"], self.span - 128
        if "frozen" in self.o:
            store, size = "frozen", int(self.o["room"])
        elif self.kind == "spectral_rm":
            size -= 16 * int(self.o["second"])
        count = self.least(b, 128, size, h, int(self.o["k"]), int(self.o["span"]), store)
        if self.kind == "spectral_rm":
            assert self.o["method"] == "rmx"
            buckets = int(self.o["second"]) // 8
            entry = 128 + size + 128 * scale(mix(h ^ 0x5DE7AB1E5DE7AB1E), buckets)
            for i in range(8):
                if u64(b, entry + 16 * i + 8) and u64(b, entry + 16 * i) == h:
                    count = min(count, u64(b, entry + 16 * i + 8) - 1)
        return float("inf") if count == 2**48 - 1 else count

    ask_spectral_rm = ask_spectral

    def sets(self, b):
        assert "by" not in self.o
        each = 384 + 16 * int(self.o["key_bytes"])
        return [b[128 + i * each:128 + (i + 1) * each] for i in range(int(self.o["list"]) // each)]

    def ask_top(self, b, h):
        sets = self.sets(b)
        s = sets[scale(h, len(sets))]
        for i in range(16):
            if u64(s, 8 * i) == h and u64(s, 128 + 8 * i) & 2**48 - 1:
                return u64(s, 128 + 8 * i) & 2**48 - 1
        rest = sum((u64(s, 256 + 8 * i) >> 48) << 16 * i for i in range(3))
        at = 128 + int(self.o["list"])
        span = 512 if self.cells > 2**20 else 0
        return min(rest, self.least(b, at, self.span - at, h, 3, span, "wide"))

    # Values: the upper bound of one value is the least count of the nodes that hold it.

    def count_value(self, value):
        place = value - int(self.o["low"]) - (2**63 if self.o["keys"] == "i64" else 0)
        bits, top = int(self.o["bits"]), int(self.o["top"])
        levels = range(max(top - 3, 0), bits + 1)
        return min(sum(self.node(b, level, place >> bits - level) for b in self.parts) for level in levels)

    def node(self, b, level, prefix):
        top = int(self.o["top"])
        coarse = max(top - 3, 0)
        parts_at = 128 + round_up(8 << coarse, 64)
        if level > top:
            at = parts_at + round_up(2 << top, 64)
            h = self.hash_bytes(struct.pack("<QQ", prefix, level))
            return self.least(b, at, self.span - at, h, int(self.o["k"]), int(self.o["span"]), "u32")
        group = prefix >> level - coarse
        if level == coarse:
            return u64(b, 128 + 8 * group)
        each = 1 << top - coarse
        parts = struct.unpack_from("<%dH" % each, b, parts_at + 2 * each * group)
        first = (prefix << top - level) - each * group
        inside, beside = parts[first:first + (1 << top - level)], parts[:first] + parts[first + (1 << top - level):]
        if 65535 not in inside:
            return sum(inside)
        return max(0, u64(b, 128 + 8 * group) - sum(x for x in beside if x < 65535))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        snapshot = Snapshot(open(name, "rb").read())
    for key in sys.stdin.buffer.read().split(b"\n")[:-1]:
        sys.stdout.buffer.write(b"%s\t%s\n" % (str(snapshot.ask(key)).encode(), key))
