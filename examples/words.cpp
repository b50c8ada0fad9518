// words.cpp - how often do words occur?  Collections of keys as they are, and both ways to hear of
// failures.
//
//     c++ -std=c++17 words.cpp $(pkg-config --cflags --libs everbloom)
#include <everbloom/everbloom.hpp>
#include <iostream>
#include <sstream>

// Without exceptions: what can fail returns a result.
static bool is_spec(const char *spec) {
    const auto f = everbloom::quiet_filter::make(spec);
    if (!f) std::cout << spec << ": " << f.text() << '\n';
    return static_cast<bool>(f);
}

int main() {
    try {
        // The words may come from strangers: a seed is drawn, so that nobody can choose words that
        // collide.
        everbloom::filter counts(everbloom::seeded("spectral:memory=64K,seed=random"));
        std::istringstream text("to be or not to be that is the question");
        const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
        counts.update(words);
        const std::string_view asked[] = {"to", "be", "question", "answer"};
        const std::vector<double> found = counts.count_all(asked);
        for (std::size_t i = 0; i < found.size(); i++)
            std::cout << asked[i] << ' ' << found[i] << '\n';

        // A number is the key that its decimal text is, unless the filter says keys=i64.
        everbloom::filter ids("bloom:distinct=1000,fpr=1e-6");
        ids.update(std::vector<std::int32_t>{7, -42, 1000000});
        std::cout << "-42 is " << (ids.contains("-42") ? "there" : "missing") << '\n';

        // A snapshot is bytes: to be sent, saved, or used where it lies.
        const std::vector<unsigned char> bytes = counts.save();
        const auto view = everbloom::filter::view(bytes.data(), bytes.size());
        std::cout << "in the snapshot, be occurs " << view.count("be") << " times\n";
    } catch (const everbloom::error &e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
    return is_spec("lru:memory=1M") && !is_spec("lru:memory=little") ? 0 : 1;
}
