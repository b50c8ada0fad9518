// everbloom.hpp - everbloom.h for C++17: filters that free themselves, collections of keys as they
// are, and failures that are thrown or returned, as you choose.
//
//     everbloom::filter f("lru:memory=64M");
//     if (!f.add(key)) std::cout << key << '\n';
//     std::vector<std::uint8_t> seen = f.add_all(ids); // vectors, arrays and spans of numbers,
//     strings, string_views
//
// everbloom::filter throws everbloom::error.  everbloom::quiet_filter never throws (but
// std::bad_alloc): what can fail returns a result, which is true in a condition if the call
// succeeded:
//
//     auto f = everbloom::quiet_filter::make("lru:memory=64M");
//     if (!f) return complain(f.text());
//     if (auto seen = f->add(key); seen && !*seen) print(key);
//
// A thin header: f.get() is the eb_filter for everything that has no method here.
#ifndef EVERBLOOM_HPP
#define EVERBLOOM_HPP
#include <cstddef>
#include <cstdint>
#include <everbloom/everbloom.h>
#include <iterator>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace everbloom {

// ---- Failures.

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

// A value, or what the function said.
template <typename T> class result {
  public:
    result(T &&value) : value_(std::move(value)) {}
    result(eb_status status, const eb_error &e) : status_(status), at_(e.at), text_(e.text) {}
    explicit operator bool() const noexcept { return status_ == EB_OK; }
    T &operator*() noexcept { return *value_; }
    const T &operator*() const noexcept { return *value_; }
    T *operator->() noexcept { return &*value_; }
    eb_status status() const noexcept { return status_; }
    std::uint64_t at() const noexcept { return at_; }
    const std::string &text() const noexcept { return text_; }

  private:
    std::optional<T> value_;
    eb_status status_ = EB_OK;
    std::uint64_t at_ = EB_NOWHERE;
    std::string text_;
};

struct nothing {}; // the value of a result of calls that have none

#if defined __cpp_exceptions
// Out of line, so that compilers inline the calls that succeed.
[[noreturn, gnu::noinline, gnu::cold]] inline void fail(eb_status status, const eb_error &e) {
    throw error(status, e);
}
inline void check(eb_status status, const eb_error &e) {
    if (status != EB_OK) fail(status, e);
}
struct throwing {
    template <typename T> using of = std::conditional_t<std::is_same_v<T, nothing>, void, T>;
    template <typename T> static of<T> give(eb_status status, const eb_error &e, T &&value) {
        check(status, e);
        if constexpr (!std::is_same_v<T, nothing>) return std::forward<T>(value);
    }
};
#endif
struct returning {
    template <typename T> using of = result<T>;
    template <typename T> static of<T> give(eb_status status, const eb_error &e, T &&value) {
        if (status != EB_OK) return result<T>(status, e);
        return result<T>(std::forward<T>(value));
    }
};

// ---- Collections of keys: whatever has data() and size(), and arrays.  They must outlive the
// call.
class keys {
  public:
    // Numbers of 1 to 8 bytes are taken as they lie; strings and string_views are listed: 16 bytes
    // each.
    template <typename Range, typename T = std::remove_cv_t<std::remove_reference_t<
                                  decltype(*std::data(std::declval<const Range &>()))>>>
    keys(const Range &range) : n_(std::size(range)) {
        if constexpr (std::is_same_v<T, eb_key>) {
            k_ = eb_keys_array(EB_STRING, std::data(range));
        } else if constexpr (std::is_integral_v<T>) {
            static_assert(!std::is_same_v<T, bool> && !std::is_same_v<T, char>,
                          "keys are numbers or strings");
            k_ = eb_keys_column(std::is_signed_v<T> ? EB_I64 : EB_U64, std::data(range), sizeof(T));
        } else {
            list_.reserve(n_);
            for (const auto &one : range) {
                const std::string_view text(one);
                list_.push_back(eb_key{text.data(), text.size()});
            }
            k_ = eb_keys_array(EB_STRING, list_.data());
        }
    }
    keys(const eb_keys &described, std::size_t n) : k_(described), n_(n) {}
    keys(const keys &) = delete;
    keys &operator=(const keys &) = delete;
    const eb_keys &get() const noexcept { return k_; }
    std::size_t size() const noexcept { return n_; }
    eb_batch batch() const noexcept { return eb_batch_keys(&k_, n_); }

  private:
    eb_keys k_;
    std::size_t n_;
    std::vector<eb_key> list_;
};

// ---- The spec with a seed that nobody can guess, where it says seed=random, or gives none and
// filters of its kind can never be merged.  Use it if keys may come from strangers: eb_spec_seed.
inline std::string seeded(const std::string &spec) {
    std::random_device draw;
    const std::uint64_t seed = static_cast<std::uint64_t>(draw()) << 32 | draw();
    std::string out(spec.size() + 32, '\0');
    eb_error err;
    if (eb_spec_seed(spec.c_str(), seed, out.data(), out.size(), &err) != EB_OK) return spec;
    out.resize(out.find('\0'));
    return out;
}

// ---- A filter.  It can be moved; clone() copies it.  After a move only assignment and destruction
// are allowed.
template <typename How> class basic_filter {
  public:
    template <typename T> using of = typename How::template of<T>;

    static of<basic_filter> make(const char *spec, const eb_allocator *mem = nullptr) {
        return own([&](eb_filter **f, eb_error *e) { return eb_new(f, spec, mem, e); });
    }
    static of<basic_filter> make(const std::string &spec, const eb_allocator *mem = nullptr) {
        return make(spec.c_str(), mem);
    }
    // With exceptions there are constructors, too.
    template <typename H = How,
              typename = std::enable_if_t<std::is_same_v<typename H::template of<bool>, bool>>>
    explicit basic_filter(const char *spec, const eb_allocator *mem = nullptr)
        : basic_filter(make(spec, mem)) {}
    template <typename H = How,
              typename = std::enable_if_t<std::is_same_v<typename H::template of<bool>, bool>>>
    explicit basic_filter(const std::string &spec, const eb_allocator *mem = nullptr)
        : basic_filter(spec.c_str(), mem) {}
    explicit basic_filter(eb_filter *owned) noexcept : f_(owned) {}
    basic_filter(basic_filter &&other) noexcept : f_(std::exchange(other.f_, nullptr)) {}
    basic_filter &operator=(basic_filter &&other) noexcept {
        std::swap(f_, other.f_);
        return *this;
    }
    basic_filter(const basic_filter &) = delete;
    basic_filter &operator=(const basic_filter &) = delete;
    ~basic_filter() { eb_free(f_); }

    // A copy of a snapshot; all of its bytes are checked.
    static of<basic_filter> load(const void *bytes, std::size_t n,
                                 const eb_limits *limits = nullptr,
                                 const eb_allocator *mem = nullptr) {
        return own(
            [&](eb_filter **f, eb_error *e) { return eb_load(f, bytes, n, limits, mem, e); });
    }
    // A read-only filter on bytes that stay in place and unchanged.
    static of<basic_filter> view(const void *bytes, std::size_t n, std::uint32_t flags = 0,
                                 const eb_allocator *mem = nullptr) {
        return own([&](eb_filter **f, eb_error *e) { return eb_view(f, bytes, n, flags, mem, e); });
    }
    of<basic_filter> clone(const eb_allocator *mem = nullptr) const {
        return own([&](eb_filter **f, eb_error *e) { return eb_clone(f, f_, mem, e); });
    }

    eb_filter *get() noexcept { return f_; }
    const eb_filter *get() const noexcept { return f_; }
    std::uint64_t caps() const noexcept { return eb_caps(f_); }
    std::uint32_t shards() const noexcept { return eb_shards(f_); }
    std::string spec() const { return eb_spec(f_); }

    // One key.  Add it: was it (probably) there before?
    of<bool> add(std::string_view key) {
        bool seen = false;
        return call(seen,
                    [&](eb_error *e) { return eb_add(f_, key.data(), key.size(), &seen, e); });
    }
    of<bool> contains(std::string_view key) const {
        bool seen = false;
        return call(seen, [&](eb_error *e) {
            return eb_ask(f_, key.data(), key.size(), &seen, nullptr, e);
        });
    }
    of<double> count(std::string_view key) const {
        double count = 0;
        return call(count, [&](eb_error *e) {
            return eb_ask(f_, key.data(), key.size(), nullptr, &count, e);
        });
    }
    of<nothing> remove(std::string_view key) {
        return done([&](eb_error *e) { return eb_remove(f_, key.data(), key.size(), e); });
    }
    of<eb_hash> hash(std::string_view key) const {
        const eb_key k = {key.data(), key.size()};
        const eb_keys all = eb_keys_array(EB_STRING, &k);
        eb_hash h = 0;
        return call(h, [&](eb_error *e) { return eb_hash_keys(f_, &all, 1, &h, e); });
    }

    // Many keys: f.add_all(std::vector<int>{1, 2, 3}).  update() gives no answers.
    of<std::vector<std::uint8_t>> add_all(const keys &k) {
        std::vector<std::uint8_t> seen(k.size());
        eb_batch b = k.batch();
        b.seen = seen.data();
        return call(seen, [&](eb_error *e) { return eb_add_batch(f_, &b, e); });
    }
    of<nothing> update(const keys &k) { return add_batch(k.batch()); }
    of<std::vector<std::uint8_t>> contains_all(const keys &k) const {
        std::vector<std::uint8_t> seen(k.size());
        eb_batch b = k.batch();
        b.seen = seen.data();
        return call(seen, [&](eb_error *e) { return eb_ask_batch(f_, &b, e); });
    }
    of<std::vector<double>> count_all(const keys &k) const {
        std::vector<double> count(k.size());
        eb_batch b = k.batch();
        b.count = count.data();
        return call(count, [&](eb_error *e) { return eb_ask_batch(f_, &b, e); });
    }
    of<nothing> remove_all(const keys &k) { return remove_batch(k.batch()); }

    // With values, times and shards: fill an eb_batch.
    of<nothing> add_batch(const eb_batch &b) {
        return done([&](eb_error *e) { return eb_add_batch(f_, &b, e); });
    }
    of<nothing> ask_batch(const eb_batch &b) const {
        return done([&](eb_error *e) { return eb_ask_batch(f_, &b, e); });
    }
    of<nothing> remove_batch(const eb_batch &b) {
        return done([&](eb_error *e) { return eb_remove_batch(f_, &b, e); });
    }
    of<nothing> merge(const basic_filter &from, std::int64_t weight = 1) {
        return done([&](eb_error *e) { return eb_merge(f_, from.f_, weight, e); });
    }
    of<nothing> clear() {
        return done([&](eb_error *e) { return eb_clear(f_, e); });
    }
    of<std::vector<unsigned char>> save() const {
        std::vector<unsigned char> bytes(eb_save_size(f_));
        return call(bytes, [&](eb_error *e) { return eb_save(f_, bytes.data(), bytes.size(), e); });
    }
    of<eb_stats> stats() const {
        eb_stats s;
        EB_INIT(s);
        return call(s, [&](eb_error *e) { return eb_stat(f_, EB_STAT_CELLS, &s, e); });
    }

  private:
    // The value is given when the work has filled it in.  Always inline: gcc hesitates at the size
    // of an eb_error.
    template <typename T, typename Work>
    [[gnu::always_inline]] static of<T> call(T &value, const Work &work) {
        eb_error e;
        const eb_status status = work(&e);
        return How::template give<T>(status, e, std::move(value));
    }
    template <typename Work> static of<nothing> done(const Work &work) {
        nothing none;
        return call(none, work);
    }
    template <typename Work> static of<basic_filter> own(const Work &work) {
        eb_filter *f = nullptr;
        eb_error e;
        const eb_status status = work(&f, &e);
        return How::template give<basic_filter>(status, e, basic_filter(f));
    }

    eb_filter *f_ = nullptr;
};

#if defined __cpp_exceptions
using filter = basic_filter<throwing>;
#endif
using quiet_filter = basic_filter<returning>;

} // namespace everbloom
#endif
