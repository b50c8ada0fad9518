/* paper_003.c - "Advanced Bloom Filter Based Algorithms for Efficient Approximate
 * Data De-Duplication in Streams": the published numbers, the five filters and
 * the streams, as we read them.
 *
 * Which reading fits was found by trying: see docs/papers/003.md. */
#include "paper_003.h"
#include <math.h>

/* Tables 1-9: memory, FPR of the five columns, FNR of the five columns. */
/* clang-format off */
const p003_table p003_tables[P003_TABLES] = {
    {1, P003_BSBF, 1e9, 0.60,
     {{8, {75.979, 35.4924, 15.2961, 6.95161, 3.28054},
       {9.20901, 59.0297, 82.0828, 91.5512, 95.7754}},
      {128, {21.0883, 11.9472, 6.67181, 3.47978, 1.76989},
       {9.83893, 34.7514, 59.2496, 75.1262, 84.1857}},
      {512, {6.46215, 1.82011, 0.777613, 0.386642, 0.205833},
       {3.34108, 13.5658, 27.7512, 43.4681, 56.9057}}}},
    {2, P003_BSBFSD, 1e9, 0.60,
     {{8, {75.9827, 78.6056, 81.2512, 83.3572, 85.0294},
       {9.2090, 7.8180, 6.4065, 5.3588, 4.5864}},
      {128, {21.0876, 15.5928, 15.2615, 16.4467, 18.2903},
       {9.8405, 17.7438, 22.9224, 26.2752, 28.3608}},
      {512, {6.4618, 1.9692, 1.0095, 0.6880, 0.5590},
       {3.3399, 6.8855, 9.9011, 12.6723, 15.1324}}}},
    {3, P003_RLBSBF, 1e9, 0.60,
     {{8, {81.4726, 52.9291, 30.2439, 17.3562, 10.1282},
       {5.3103, 40.466, 66.0585, 80.3262, 88.3195}},
      {128, {22.8676, 16.3554, 12.3957, 8.56757, 5.5645},
       {2.4337, 15.0161, 35.6592, 55.2835, 69.3118}},
      {512, {6.6563, 2.07884, 1.0555, 0.6773, 0.4828},
       {0.2553, 1.98971, 6.1959, 13.3911, 23.2844}}}},
    {4, -1, 695e6, 0.15,
     {{64, {1.9319, 2.6276, 3.2569, 3.5475, 3.7064},
       {53.2681, 35.9014, 8.7547, 3.3299, 1.3453}},
      {128, {0.7414, 0.8903, 1.0128, 1.0530, 1.0821},
       {37.7853, 23.126, 3.888, 1.7048, 0.3773}},
      {256, {0.2384, 0.2637, 0.2822, 0.2881, 0.2924},
       {23.8930, 13.5047, 1.8199, 0.8551, 0.1010}},
      {512, {0.0688, 0.0719, 0.0747, 0.0753, 0.0759},
       {12.9392, 7.3674, 0.8794, 0.4267, 0.0262}}}},
    {5, -1, 695e6, 0.60,
     {{64, {6.7672, 12.2408, 16.0723, 22.4491, 22.7214},
       {70.832, 52.8855, 39.9809, 19.9394, 20.2164}},
      {128, {4.3075, 6.7265, 8.0154, 9.7951, 10.4734},
       {57.9713, 39.2682, 28.6708, 14.7555, 9.8051}},
      {256, {2.0861, 2.7654, 3.0816, 3.4335, 3.6588},
       {42.0788, 25.7648, 17.7509, 9.0574, 3.4843}},
      {512, {0.8151, 0.9189, 0.9779, 1.0331, 1.0775},
       {24.2902, 15.2035, 9.8819, 4.9892, 1.0236}}}},
    {6, -1, 695e6, 0.90,
     {{64, {8.5028, 16.3502, 20.6486, 31.104, 30.1024},
       {73.134, 55.0285, 45.7102, 24.1625, 26.8786}},
      {128, {6.3252, 10.6716, 11.9222, 15.7484, 16.6894},
       {61.1759, 41.9224, 36.5123, 20.3118, 16.4363}},
      {256, {3.5908, 5.0678, 5.3168, 6.3016, 6.8635},
       {45.4987, 28.179, 25.3195, 13.8078, 7.0784}},
      {512, {1.6058, 1.8497, 1.8911, 2.0783, 2.2248},
       {26.6313, 16.9302, 15.3766, 8.1061, 2.3059}}}},
    {7, -1, 1e9, 0.15,
     {{64, {2.9156, 4.2891, 5.5775, 6.3441, 6.6755},
       {60.8981, 43.1705, 13.7096, 4.6175, 2.5795}},
      {128, {1.2608, 1.6079, 1.9023, 2.0181, 2.0930},
       {45.9566, 29.5540, 5.9096, 2.4357, 0.7400}},
      {256, {0.4413, 0.5059, 0.5572, 0.5727, 0.5849},
       {30.8269, 18.1142, 2.6956, 1.2296, 0.2026}},
      {512, {0.1341, 0.1431, 0.1506, 0.1526, 0.1543},
       {17.1336, 10.2015, 1.2846, 0.6139, 0.0535}}}},
    {8, -1, 1e9, 0.60,
     {{64, {7.8507, 15.0561, 20.7283, 31.3858, 30.044},
       {75.7271, 58.6734, 44.9042, 21.0835, 25.7526}},
      {128, {5.6378, 9.5676, 11.9472, 15.5928, 16.3554},
       {65.2456, 46.6885, 34.7514, 17.7438, 15.0161}},
      {256, {3.1629, 4.5557, 5.2369, 6.0937, 6.5378},
       {50.5726, 32.6139, 23.2001, 11.9067, 6.2079}},
      {512, {1.4504, 1.6747, 1.82011, 1.9692, 2.0788},
       {30.2739, 20.2770, 13.5658, 6.8855, 1.9897}}}},
    {9, -1, 1e9, 0.90,
     {{64, {9.2617, 18.6342, 25.0083, 40.5501, 36.7959},
       {77.5273, 60.3738, 49.2073, 23.8819, 31.0134}},
      {128, {7.5909, 13.8357, 16.4207, 23.192, 23.5977},
       {68.0553, 49.2204, 41.7178, 22.89, 22.2474}},
      {256, {5.0231, 7.7876, 8.3846, 10.4808, 11.3415},
       {54.0293, 35.2653, 31.2527, 17.2991, 11.5338}},
      {512, {2.7427, 3.2263, 3.33317, 3.7953, 4.1133},
       {32.8335, 22.3998, 20.2695, 10.8729, 4.2852}}}},
};
/* clang-format on */

const char *const p003_names[P003_COLUMNS] = {"SBF", "RSBF", "BSBF", "BSBFSD", "RLBSBF"};

int p003_kind(const p003_table *t, int column) {
    return t->kind < 0 ? column : t->kind;
}

unsigned p003_k(const p003_table *t, int column) {
    return t->kind < 0 ? 2 : (unsigned)column + 1;
}

void p003_spec(char spec[P003_SPEC], int kind, unsigned k, double bits, uint64_t seed) {
    static const char *const lib[P003_COLUMNS] = {"stable", "rsbf", "bsbf", "bsbfsd", "rlbsbf"};
    const unsigned long long cells = (unsigned long long)k * (unsigned long long)(bits / k);
    snprintf(spec, P003_SPEC, "%s:cells=%llu,k=%u%s,seed=%llu", lib[kind], cells, k,
             kind == P003_SBF ? ",width=1,fade=4,delete=random" : "", (unsigned long long)seed);
}

lab_stream *p003_stream(const p003_table *t, const lab_options *o, size_t seed) {
    const double records = t->records / o->scale;
    return lab_stream_copies((uint64_t)round(records), (uint64_t)round(records * t->share),
                             o->seed + seed);
}

static const lab_experiment p003_experiments[] = {
    {"tables", "Tables 1-9 (or --table N): published, measured, predicted", p003_run_tables},
    {"data", "which way of making the data gives the published numbers", p003_run_data},
    {"choosy", "choosy against each of the five in the cells of Tables 4-9", p003_run_choosy},
    {"gaps", "endless streams: FNR at FPR 1, 2, 5, 10 % of seven designs", p003_run_gaps},
    {"lines", "lru lines: windows, and a million lines without a mistake", p003_run_lines},
    {"theory", "the published recurrences beside measured and predicted", p003_run_theory},
    {"full", "four cells at the published size of 1e9 records", p003_run_full},
    {"figures", "Figures 2-11 (or --figure N) as CSV", p003_run_figures},
    {"tradeoff", "FNR against FPR in cells of Tables 4-9 as CSV", p003_run_tradeoff},
    {"gap-curves", "FNR against FPR on endless streams as CSV", p003_run_gap_curves},
    {"soak", "lru 64 MB over 1e10 records at --scale 1: no drift", p003_run_soak},
    {"replay", "all filters on the lines of --file", p003_run_replay},
    {0}};

const lab_paper lab_paper_003 = {
    "003", "de-duplication in streams (RSBF, BSBF, BSBFSD, RLBSBF)", p003_experiments, "full", 100,
    3};
