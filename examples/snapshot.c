/* snapshot.c FILE - saving so that a crash leaves the old file or the new one, and asking a file
 * without loading it.
 *
 *     cc snapshot.c $(pkg-config --cflags --libs everbloom) */
#define _POSIX_C_SOURCE 200809L
#include <everbloom/everbloom.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Write the parts of a snapshot, which are not copied, beside the file; then take its place. */
static int save(const eb_filter *f, const char *path) {
    char beside[4096];
    eb_parts parts;
    eb_error err;
    EB_INIT(parts);
    if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside) return -1;
    if (eb_save_parts(f, &parts, &err)) return fprintf(stderr, "%s\n", err.text), -1;
    const int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) return perror(beside), -1;
    for (uint32_t i = 0; i < parts.n; i++)
        for (size_t done = 0; done < parts.part[i].len;) {
            const ssize_t n =
                write(fd, (const char *)parts.part[i].p + done, parts.part[i].len - done);
            if (n < 0) return perror(beside), close(fd), -1;
            done += (size_t)n;
        }
    if (fsync(fd) || close(fd) || rename(beside, path)) return perror(beside), -1;
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: snapshot FILE\n"), 2;
    eb_filter *f, *view;
    eb_error err;
    bool apple, pear;
    if (eb_new(&f, "bloom:distinct=1e6,fpr=0.001", NULL, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    if (eb_add(f, "apple", 5, NULL, &err) || save(f, argv[1])) return 1;
    eb_free(f);

    struct stat s;
    const int fd = open(argv[1], O_RDONLY);
    if (fd < 0 || fstat(fd, &s)) return perror(argv[1]), 1;
    const size_t len = (size_t)s.st_size;
    void *const map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) return perror(argv[1]), 1;
    /* EB_TRUST: our own file; nothing is read but what is asked for. */
    if (eb_view(&view, map, len, EB_TRUST, NULL, &err)) return fprintf(stderr, "%s\n", err.text), 1;
    if (eb_ask(view, "apple", 5, &apple, NULL, &err) || eb_ask(view, "pear", 4, &pear, NULL, &err))
        return 1;
    printf("apple: %s, pear: %s, in %zu mapped bytes\n", apple ? "yes" : "no", pear ? "yes" : "no",
           len);
    eb_free(view);
    munmap(map, len);
    close(fd);
    return apple && !pear ? 0 : 1;
}
