/* matrix.c - the C library among the hosts of matrix.py:
 *
 *     matrix write SPEC FILE <lines     a filter of the lines
 *     matrix read FILE <lines           prints the lines that it has seen */
#include "../hosts/host.h"

static size_t line_of(char *line, size_t cap) {
    const size_t len = strlen(fgets(line, (int)cap, stdin) ? line : "");
    return len && line[len - 1] == '\n' ? len - 1 : len;
}

int main(int argc, char **argv) {
    static unsigned char bytes[1 << 20];
    char line[4096];
    eb_filter *f;
    bool seen;
    CHECK(argc >= 3, "matrix write SPEC FILE, or matrix read FILE");
    if (strcmp(argv[1], "write") == 0) {
        MUST(eb_new(&f, argv[2], NULL, &why));
        for (size_t len = line_of(line, sizeof line); !feof(stdin);
             len = line_of(line, sizeof line))
            MUST(eb_add(f, line, len, NULL, &why));
        FILE *const out = fopen(argv[3], "wb");
        MUST(eb_save(f, bytes, sizeof bytes, &why));
        CHECK(out && fwrite(bytes, 1, eb_save_size(f), out) == eb_save_size(f) && !fclose(out),
              "a file can be written");
    } else {
        FILE *const in = fopen(argv[2], "rb");
        CHECK(in, "the file can be read");
        MUST(eb_load(&f, bytes, fread(bytes, 1, sizeof bytes, in), NULL, NULL, &why));
        (void)fclose(in);
        for (size_t len = line_of(line, sizeof line); !feof(stdin);
             len = line_of(line, sizeof line)) {
            MUST(eb_ask(f, line, len, &seen, NULL, &why));
            if (seen) printf("%.*s\n", (int)len, line);
        }
    }
    eb_free(f);
    return 0;
}
