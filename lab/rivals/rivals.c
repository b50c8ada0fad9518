/* rivals.c - the list of rivals, and their options. */
#include "rivals.h"
#include <stdlib.h>
#include <string.h>

const lab_rival lab_rivals[] = {
    {"apbf", "k=4,l=3", "age-partitioned Bloom filter (Shtul, Baquero, Almeida 2020)", rival_apbf},
    {"qht", "w=8,b=4", "quotient hash table: a full bucket replaces any (Geraud et al. 2019)",
     rival_qht},
    {"fifo", "w=16,b=4", "the same with a queue in each bucket, which drops the oldest",
     rival_fifo},
    {"cms", "d=4", "Count-Min with conservative update, 32-bit counters (Estan, Varghese 2002)",
     rival_count_min},
    {"csketch", "d=5", "Count-Sketch (Charikar, Chen, Farach-Colton 2002)", rival_count_sketch},
    {"spacesaving", "", "Space-Saving (Metwally, Agrawal, El Abbadi 2005)", rival_space_saving},
    {"heavykeeper", "d=2", "HeavyKeeper (Gong et al. 2018)", rival_heavy_keeper},
    {0}};

static uint64_t rivals_number(const char *text, char **end) {
    double v = strtod(text, end);
    if (**end == 'K')
        v *= 1024, ++*end;
    else if (**end == 'M')
        v *= 1 << 20, ++*end;
    return v >= 0 && v < 1e15 ? (uint64_t)v : 0;
}

uint64_t rival_option(const rival_spec *s, const char *key, uint64_t def, uint64_t min,
                      uint64_t max) {
    const size_t len = strlen(key);
    for (const char *p = s->options; *p; p += strcspn(p, ","), p += *p == ',') {
        if (strncmp(p, key, len) != 0 || p[len] != '=') continue;
        char *end;
        const uint64_t v = rivals_number(p + len + 1, &end);
        if ((*end && *end != ',') || v < min || v > max)
            lab_die("%s must be %llu..%llu in \"%s\"", key, (unsigned long long)min,
                    (unsigned long long)max, s->options);
        return v;
    }
    return def;
}

bool lab_rival_new(const char *spec, uint64_t seed, lab_subject *out) {
    const size_t len = strcspn(spec, ":");
    for (const lab_rival *r = lab_rivals; r->name; r++) {
        if (strlen(r->name) != len || memcmp(spec, r->name, len) != 0) continue;
        rival_spec s = {spec[len] ? spec + len + 1 : "", 0, seed};
        s.memory = rival_option(&s, "memory", 64 << 10, 256, UINT64_C(1) << 36);
        *out = r->make(&s);
        return true;
    }
    return false;
}
