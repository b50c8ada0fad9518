/* page.c - what a page in a browser calls: a plan for a workload, and the curve of a filter's error
 * rates, without making the filter.  All memory is static, as in a small WebAssembly module: the
 * page reads the results where they lie. */
#include "host.h"
#include <math.h>

enum { POINTS = 40 };
static char page_message[sizeof why.text];
static eb_workload page_load;
static eb_prediction page_points[POINTS];
static eb_offer page_offer;
static double page_items[POINTS], page_fpr[POINTS], page_fnr[POINTS];

static bool page_result(eb_status status) {
    (void)snprintf(page_message, sizeof page_message, "%s", status == EB_OK ? "" : why.text);
    return status == EB_OK;
}

/* The reader moves sliders: the spec, or a sentence. */
static bool page_plan(double items, double distinct, double max_fpr, double max_fnr, double bytes) {
    eb_goal goal;
    EB_INIT(page_load);
    page_load.items = items;
    page_load.distinct = distinct;
    EB_INIT(goal);
    goal.load = &page_load;
    goal.max_fpr = max_fpr;
    goal.max_fnr = max_fnr;
    goal.max_bytes = bytes;
    goal.prefer = EB_FEWEST_MISSES;
    EB_INIT(page_offer);
    size_t n;
    return page_result(eb_plan(&goal, &page_offer, 1, &n, &why));
}

/* Rates along a stream, at lengths that grow by the same factor. */
static bool page_curve(const char *spec, double from, double to, double repeats) {
    eb_workload stream;
    EB_INIT(stream);
    stream.items = to;
    stream.distinct = to / repeats;
    for (int i = 0; i < POINTS; i++)
        page_items[i] = fmin(to, from * pow(to / from, i / (double)(POINTS - 1)));
    EB_INIT(page_points[0]);
    if (!page_result(eb_predict(spec, &stream, page_items, POINTS, page_points, &why)))
        return false;
    for (int i = 0; i < POINTS; i++) {
        page_fpr[i] = page_points[i].fpr;
        page_fnr[i] = page_points[i].fnr;
    }
    return true;
}

static void check_rates(void) {
    for (int i = 0; i < POINTS; i++) {
        CHECK(page_fpr[i] >= 0 && page_fpr[i] <= 1, "a rate of false positives is in 0..1");
        CHECK(isnan(page_fnr[i]) || (page_fnr[i] >= 0 && page_fnr[i] <= 1),
              "a rate of false negatives is in 0..1, or there is no formula");
    }
}

/* A filter that only fills up gets worse, and a larger one is better at every point. */
static void test_bloom(void) {
    static double smaller[POINTS];
    CHECK(page_curve("bloom:memory=64K,k=3", 1e3, 1e7, 2), "a Bloom filter has a curve");
    check_rates();
    for (int i = 1; i < POINTS; i++)
        CHECK(page_fpr[i] >= page_fpr[i - 1], "more keys in a Bloom filter never help");
    for (int i = 0; i < POINTS; i++) CHECK(page_fnr[i] == 0, "a Bloom filter misses nothing");
    CHECK(page_fpr[0] < 1e-6 && page_fpr[POINTS - 1] > 0.99, "it begins empty and ends full");
    memcpy(smaller, page_fpr, sizeof smaller);
    CHECK(page_curve("bloom:memory=256K,k=3", 1e3, 1e7, 2), "a larger one has a curve");
    for (int i = 0; i < POINTS; i++)
        CHECK(page_fpr[i] <= smaller[i], "a larger filter is never worse");
}

/* A filter for endless streams fills up to a limit, and stays there. */
static void test_stable(void) {
    CHECK(page_curve("stable:memory=64K,fpr=0.01", 1e3, 1e9, 2), "a stable filter has a curve");
    check_rates();
    for (int i = 1; i < POINTS; i++)
        CHECK(page_fpr[i] >= page_fpr[i - 1] * (1 - 1e-9), "it fills up to its limit");
    CHECK(fabs(page_fpr[POINTS - 1] - page_fpr[POINTS - 2]) < 1e-6 && page_fpr[POINTS - 1] < 0.0101,
          "the rate settles where the spec wants it");
}

int main(void) {
    eb_spec_info info;
    EB_INIT(info);
    test_bloom();
    test_stable();
    CHECK(page_plan(1e6, 5e5, 0.01, 0, 4 << 20), "4 MB are enough for half a million keys");
    CHECK(page_offer.mean_fpr >= 0 && page_offer.mean_fpr <= 0.01, "a plan keeps its bound");
    MUST(eb_spec_describe(page_offer.spec, &info, &why));
    CHECK(page_curve(page_offer.spec, 1e3, 1e6, 2), "what was planned has a curve");
    check_rates();
    CHECK(!page_plan(1e9, 5e8, 0.01, 0.01, 2048) && page_message[0],
          "a wish that nobody can keep is refused with a sentence");
    CHECK(!page_curve("blom:memory=64K", 1e3, 1e6, 2) && strstr(page_message, "blom"),
          "the sentence about a misspelt kind names it");
    puts("page: a plan, curves that rise as they should, and refusals with a reason");
    return 0;
}
