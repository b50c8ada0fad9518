// threads.cpp - a C++ program with threads: all hash a slice of the keys, then each takes the same
// batch and its own range of shards.  The bytes and the answers do not depend on how many threads
// there are.
#include "host.h"
#include <cstdint>
#include <everbloom/everbloom.hpp>
#include <thread>
#include <vector>

namespace {

constexpr size_t keys = 50000;
constexpr uint64_t second = 1000; // times are in milliseconds

// An exception that nobody expects ends the program with its sentence.
template <typename Work> void guarded(Work work) {
    try {
        work();
    } catch (const std::exception &e) {
        host_fail(__FILE__, __LINE__, e.what());
    }
}

template <typename Work> void on_threads(unsigned threads, Work work) {
    std::vector<std::thread> pool;
    for (unsigned t = 0; t < threads; t++) pool.emplace_back([=] { guarded([=] { work(t); }); });
    for (auto &thread : pool) thread.join();
}

struct outcome {
    std::vector<uint8_t> bytes, seen;
    bool operator==(const outcome &o) const { return bytes == o.bytes && seen == o.seen; }
};

// Every seventh key is one that came before.
std::vector<eb_hash> hashes(const everbloom::filter &f, unsigned threads) {
    std::vector<eb_hash> hash(keys);
    on_threads(threads, [&](unsigned t) {
        for (size_t i = keys * t / threads; i < keys * (t + 1) / threads; i++) {
            const host_key text = host_key_of(i % 7 == 0 ? i / 2 : i);
            hash[i] = f.hash({text.text, text.len});
        }
    });
    return hash;
}

outcome run(const char *spec, unsigned threads) {
    everbloom::filter f(spec), plain(spec);
    const uint32_t shards = f.shards();
    const std::vector<eb_hash> hash = hashes(f, threads);
    std::vector<uint64_t> time(keys);
    outcome out;
    for (size_t i = 0; i < keys; i++) time[i] = i * second / 10;
    out.seen.assign(keys, 2);
    on_threads(threads, [&](unsigned t) {
        eb_batch b = eb_batch_hashes(hash.data(), hash.size());
        b.time = time.data();
        b.seen = out.seen.data();
        b.flags = EB_SHARD_RANGE;
        b.first_shard = shards * t / threads;
        b.n_shards =
            shards * (t + 1) / threads - b.first_shard; // 0 if there are more threads than shards
        f.add_batch(b);
    });
    out.bytes = f.save();
    // The same in one call without threads, as a check.
    eb_batch b = eb_batch_hashes(hash.data(), hash.size());
    std::vector<uint8_t> seen(keys, 2);
    b.time = time.data();
    b.seen = seen.data();
    plain.add_batch(b);
    CHECK(plain.save() == out.bytes && seen == out.seen, "ranges of shards do what one batch does");
    return out;
}

void same_for_all(const char *spec) {
    const outcome one = run(spec, 1);
    size_t repeats = 0;
    for (const uint8_t seen : one.seen) {
        CHECK(seen <= 1, "every key has an answer");
        repeats += seen;
    }
    CHECK(repeats > keys / 100 && repeats < keys / 6,
          "some keys were repeats, and at most a seventh and a few");
    for (const unsigned threads : {2u, 3u, 8u, 40u})
        CHECK(run(spec, threads) == one, "the number of threads changes nothing");
}

// The same failure as an exception: its status, and whether it has a sentence.
template <typename Work> bool throws(eb_status wanted, Work work) {
    try {
        work();
    } catch (const everbloom::error &e) {
        return e.status() == wanted && e.what()[0];
    }
    return false;
}

// Filters are values: they move, are copied on demand, and say what is wrong by throwing.
void use_values() {
    everbloom::filter f("spectral:memory=64K,k=5,update=plain,seed=9"), g(f.spec());
    CHECK(!f.add("a") && f.add("a") && f.contains("a") && f.count("a") == 2,
          "a key is added and counted");
    CHECK(!f.contains({}) && !f.add({}) && f.contains({}), "the empty key is a key");
    g.merge(f, 3);
    g.remove("a");
    CHECK(g.count("a") == 5 && g.stats().adds > 0, "merged three times, removed once");
    everbloom::filter copy = g.clone(), moved = std::move(copy);
    g.clear();
    CHECK(moved.count("a") == 5 && g.count("a") == 0, "a copy is independent");
    const auto bytes = moved.save();
    const auto view = everbloom::filter::view(bytes.data(), bytes.size());
    g = everbloom::filter::load(bytes.data(), bytes.size());
    CHECK(view.count("a") == 5 && g.save() == bytes && (view.caps() & EB_CAN_COUNT),
          "a snapshot holds it all");
    CHECK(throws(EB_ESPEC, [] { everbloom::filter bad("blom"); }), "a misspelt kind is thrown");
    CHECK(throws(EB_EFORMAT, [&] { everbloom::filter::load(bytes.data(), 99); }),
          "a cut snapshot is thrown");
    CHECK(throws(EB_EVALUE, [&] { g.remove("never there"); }),
          "a key that is not there cannot be removed");
}

} // namespace

int main() {
    guarded([] {
        use_values();
        same_for_all("window:memory=1M,window=2000000,unit=time,fpr=0.001,shards=16,seed=9");
        same_for_all("bloom:memory=1M,k=5,shards=16,seed=9");
        same_for_all("stable:memory=256K,fpr=0.01,shards=8,seed=9");
    });
    puts("threads: 1, 2, 3, 8 and 40 threads make the same bytes and answers");
    return 0;
}
