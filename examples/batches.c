/* batches.c - columns of keys in batches: numbers and texts with offsets go in as they lie.
 *
 *     cc batches.c $(pkg-config --cflags --libs everbloom) */
#include <everbloom/everbloom.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static eb_error err;
static void must(eb_status status) {
    if (status == EB_OK) return;
    fprintf(stderr, "%s\n", err.text);
    exit(1);
}

int main(void) {
    eb_filter *f;
    must(eb_new(&f, "spectral:memory=64K", NULL, &err));

    /* A column of numbers, with a weight for each. */
    const int32_t user[] = {7, 42, 7, -1};
    const uint64_t bytes[] = {100, 20, 3, 5};
    const eb_keys users = eb_keys_column(EB_I64, user, sizeof *user);
    eb_batch add = eb_batch_keys(&users, 4);
    add.value = bytes;
    must(eb_add_batch(f, &add, &err));

    /* Texts in one buffer with offsets, as Arrow and databases have them: the same keys. */
    const char text[] = "7428";
    const int32_t offset[] = {0, 1, 3, 4};
    const eb_keys texts = eb_keys_offsets32(EB_TEXT, text, 4, offset);
    double count[3];
    eb_batch ask = eb_batch_keys(&texts, 3);
    ask.count = count;
    must(eb_ask_batch(f, &ask, &err));
    printf("user 7: %g bytes, user 42: %g, user 8: %g\n", count[0], count[1], count[2]);

    /* A batch is taken as a whole, or not at all; the error names the key. */
    eb_filter *numbers;
    must(eb_new(&numbers, "bloom:distinct=1000,fpr=0.001,keys=i64", NULL, &err));
    const eb_key words[] = {{"12", 2}, {"twelve", 6}};
    const eb_keys mixed = eb_keys_array(EB_TEXT, words);
    const eb_batch bad = eb_batch_keys(&mixed, 2);
    if (eb_add_batch(numbers, &bad, &err) != EB_EKEY) return 1;
    printf("key %" PRIu64 " was refused: %s\n", err.at, err.text);
    eb_free(numbers);
    eb_free(f);
    return 0;
}
