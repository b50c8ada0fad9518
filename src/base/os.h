/* os.h - what depends on the machine and the operating system: mapped memory with huge pages, and
 * what the processor can do.  All #ifdefs about them are here.  Files with x86 instructions test
 * EBI_X86_64, those with vectors of WebAssembly EBI_WASM_SIMD. */
#ifndef EBI_OS_H
#define EBI_OS_H
#include "base.h"

#if defined __x86_64__
#define EBI_X86_64 1
#else
#define EBI_X86_64 0
#endif
#if defined __wasm_simd128__
#define EBI_WASM_SIMD 1
#else
#define EBI_WASM_SIMD 0
#endif

/* Whether prefetch instructions exist.  WebAssembly has none. */
#if defined __wasm__
enum { EBI_OS_CAN_PREFETCH = 0 };
#else
enum { EBI_OS_CAN_PREFETCH = 1 };
#endif

/* Zeroed memory aligned to huge pages, or NULL. Where memory cannot be mapped, EBI_OS_CAN_MAP is 0
 * and these functions are not called. */
enum { EBI_OS_PAGE = 4096, EBI_OS_HUGE_PAGE = 2 << 20 };

#if defined __unix__ && !defined __wasm__
#include <sys/mman.h>
enum { EBI_OS_CAN_MAP = 1 };

static inline void *ebi_os_map(size_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    const size_t pages = (size_t)ebi_round_up(size, EBI_OS_PAGE);
    uint8_t *const p = mmap(NULL, pages + EBI_OS_HUGE_PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    const size_t before = (EBI_OS_HUGE_PAGE - (uintptr_t)p % EBI_OS_HUGE_PAGE) % EBI_OS_HUGE_PAGE;
    if (before > 0) (void)munmap(p, before);
    (void)munmap(p + before + pages, EBI_OS_HUGE_PAGE - before);
#if defined MADV_HUGEPAGE
    (void)madvise(p + before, pages, MADV_HUGEPAGE);
#endif
    return p + before;
}

static inline void ebi_os_unmap(void *p, size_t size) {
    (void)munmap(p, (size_t)ebi_round_up(size, EBI_OS_PAGE));
}
#else
enum { EBI_OS_CAN_MAP = 0 };

static inline void *ebi_os_map(size_t size) {
    (void)size;
    return NULL;
}

static inline void ebi_os_unmap(void *p, size_t size) {
    (void)p, (void)size;
}
#endif

/* What this processor can do, found out at run time. */

static inline bool ebi_has_avx2(void) {
#if EBI_X86_64
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

static inline bool
ebi_has_vbmi2(void) { /* AVX-512 with VBMI2 and the extensions that come with it */
#if EBI_X86_64
    return __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq");
#else
    return false;
#endif
}

static inline bool ebi_has_bmi2(void) { /* with BMI and popcnt, which come with it */
#if EBI_X86_64
    return __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}
#endif
