// everbloom.hpp - everbloom.h for C++17: filters that free themselves, and failures that are
// thrown.
//
//     everbloom::filter f("stable:memory=64M,fpr=0.001,seed=42");
//     if (!f.add(key)) std::cout << key << '\n';
//
// A thin header: f.get() is the eb_filter for everything that has no method here, and
// everbloom::check turns the status of such a call into an exception.  Times, values, shards: fill
// an eb_batch from eb_batch_keys or eb_batch_hashes.
#ifndef EVERBLOOM_HPP
#define EVERBLOOM_HPP
#include <cstddef>
#include <cstdint>
#include <everbloom/everbloom.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace everbloom {

// What a function that failed said: status, and the key or byte that was refused (EB_NOWHERE:
// none).
class error : public std::runtime_error {
  public:
    error(eb_status status, const eb_error &e)
        : std::runtime_error(e.text), status_(status), at_(e.at) {}
    eb_status status() const noexcept { return status_; }
    std::uint64_t at() const noexcept { return at_; }

  private:
    eb_status status_;
    std::uint64_t at_;
};

inline void check(eb_status status, const eb_error &e) {
    if (status != EB_OK) throw error(status, e);
}

// A filter.  It can be moved; clone() copies it.  After a move only assignment and destruction are
// allowed.
class filter {
  public:
    explicit filter(const char *spec, const eb_allocator *mem = nullptr) {
        eb_error e;
        check(eb_new(&f_, spec, mem, &e), e);
    }
    explicit filter(const std::string &spec, const eb_allocator *mem = nullptr)
        : filter(spec.c_str(), mem) {}
    explicit filter(eb_filter *owned) noexcept : f_(owned) {}
    filter(filter &&other) noexcept : f_(std::exchange(other.f_, nullptr)) {}
    filter &operator=(filter &&other) noexcept {
        std::swap(f_, other.f_);
        return *this;
    }
    filter(const filter &) = delete;
    filter &operator=(const filter &) = delete;
    ~filter() { eb_free(f_); }

    // A copy of a snapshot; all of its bytes are checked.
    static filter load(const void *bytes, std::size_t n, const eb_limits *limits = nullptr,
                       const eb_allocator *mem = nullptr) {
        eb_filter *f;
        eb_error e;
        check(eb_load(&f, bytes, n, limits, mem, &e), e);
        return filter(f);
    }
    // A read-only filter on bytes that stay in place and unchanged.
    static filter view(const void *bytes, std::size_t n, std::uint32_t flags = 0,
                       const eb_allocator *mem = nullptr) {
        eb_filter *f;
        eb_error e;
        check(eb_view(&f, bytes, n, flags, mem, &e), e);
        return filter(f);
    }
    filter clone(const eb_allocator *mem = nullptr) const {
        eb_filter *f;
        eb_error e;
        check(eb_clone(&f, f_, mem, &e), e);
        return filter(f);
    }

    eb_filter *get() noexcept { return f_; }
    const eb_filter *get() const noexcept { return f_; }
    std::uint64_t caps() const noexcept { return eb_caps(f_); }
    std::uint32_t shards() const noexcept { return eb_shards(f_); }
    std::string spec() const {
        char text[EB_SPEC_MAX];
        eb_spec(f_, text, sizeof text);
        return text;
    }

    // Add a key: was it (probably) there before?
    bool add(std::string_view key) {
        bool seen;
        eb_error e;
        check(eb_add(f_, key.data(), key.size(), &seen, &e), e);
        return seen;
    }
    bool contains(std::string_view key) const {
        bool seen;
        eb_error e;
        check(eb_ask(f_, key.data(), key.size(), &seen, nullptr, &e), e);
        return seen;
    }
    double count(std::string_view key) const {
        double count;
        eb_error e;
        check(eb_ask(f_, key.data(), key.size(), nullptr, &count, &e), e);
        return count;
    }
    void remove(std::string_view key) {
        eb_error e;
        check(eb_remove(f_, key.data(), key.size(), &e), e);
    }
    eb_hash hash(std::string_view key) const {
        const eb_key k = {key.data(), key.size()};
        const eb_keys keys = eb_keys_array(EB_STRING, &k);
        eb_hash h;
        eb_error e;
        check(eb_hash_keys(f_, &keys, 1, &h, &e), e);
        return h;
    }
    void add_batch(const eb_batch &b) {
        eb_error e;
        check(eb_add_batch(f_, &b, &e), e);
    }
    void ask_batch(const eb_batch &b) const {
        eb_error e;
        check(eb_ask_batch(f_, &b, &e), e);
    }
    void remove_batch(const eb_batch &b) {
        eb_error e;
        check(eb_remove_batch(f_, &b, &e), e);
    }
    void merge(const filter &from, std::int64_t weight = 1) {
        eb_error e;
        check(eb_merge(f_, from.f_, weight, &e), e);
    }
    void clear() {
        eb_error e;
        check(eb_clear(f_, &e), e);
    }
    std::vector<unsigned char> save() const {
        std::vector<unsigned char> bytes(eb_save_size(f_));
        eb_error e;
        check(eb_save(f_, bytes.data(), bytes.size(), &e), e);
        return bytes;
    }
    eb_stats stats() const {
        eb_stats s;
        eb_error e;
        EB_INIT(s);
        check(eb_stat(f_, &s, &e), e);
        return s;
    }

  private:
    eb_filter *f_ = nullptr;
};

} // namespace everbloom
#endif
