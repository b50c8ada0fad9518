/* side.c - checks a side table that comes from outside.  The layout is in side.h. */
#include "side.h"

static bool side_slot_fits(const ebi_side *t, const ebi_side_slot *bucket, size_t i, uint64_t home,
                           uint64_t most) {
    assert(i < EBI_SIDE_WAYS && home < t->buckets);
    const ebi_side_slot s = bucket[i];
    if (s.count == 0) return s.hash == 0;
    for (size_t j = 0; j < i; j++)
        if (bucket[j].count == 0 || bucket[j].hash == s.hash) return false;
    return s.count <= most + 1 && ebi_side_home(t, s.hash) == home;
}

bool ebi_side_check(const ebi_side *t, uint64_t most) {
    for (uint64_t home = 0; home < t->buckets; home++)
        for (size_t i = 0; i < EBI_SIDE_WAYS; i++)
            if (!side_slot_fits(t, t->slots + home * EBI_SIDE_WAYS, i, home, most)) return false;
    return true;
}
