/* module.c - loading: configuration, the type, the tables of commands.
 *
 *     loadmodule everbloom.so [name N] [prefix P] [compat yes|no] ...
 *
 * Arguments have the names of the configuration, and count more. */
#include "module.h"
#include <stdio.h>
#include <strings.h>

ev_config ev_settings = {.default_capacity = 100,

                         .max_filter_bytes = 1LL << 30,
                         .compat = 1,
                         .name = "everbloom",
                         .prefix = "EB"};

static char module_names[EV_NAMES][48];

const char *ev_command(ev_name n) {
    return module_names[n];
}

/* Configuration */

static long long config_get_number(const char *name, void *data) {
    (void)name;
    return *(long long *)data;
}

static int config_set_number(const char *name, long long value, void *data,
                             RedisModuleString **err) {
    (void)name;
    (void)err;
    *(long long *)data = value;
    return SRV_OK;
}

static int config_get_bool(const char *name, void *data) {
    (void)name;
    return *(int *)data;
}

static int config_set_bool(const char *name, int value, void *data, RedisModuleString **err) {
    (void)name;
    (void)err;
    *(int *)data = value;
    return SRV_OK;
}

static RedisModuleString *config_prefix_text; /* what the server reads; it stays ours */

static RedisModuleString *config_get_prefix(const char *name, void *data) {
    (void)name;
    (void)data;
    if (config_prefix_text) RedisModule_FreeString(NULL, config_prefix_text);
    config_prefix_text =
        RedisModule_CreateString(NULL, ev_settings.prefix, strlen(ev_settings.prefix));
    return config_prefix_text;
}

static int module_set_word(char *to, size_t cap, const char *from, size_t n) {
    if (n == 0 || n >= cap) return SRV_ERR;
    for (size_t i = 0; i < n; i++)
        if (!(from[i] >= '0' && from[i] <= '9') &&
            !((from[i] | 32) >= 'a' && (from[i] | 32) <= 'z') && from[i] != '-' && from[i] != '_')
            return SRV_ERR;
    memcpy(to, from, n);
    to[n] = 0;
    return SRV_OK;
}

static int config_set_prefix(const char *name, RedisModuleString *value, void *data,
                             RedisModuleString **err) {
    static const char text[] = "a prefix has letters, digits, - and _, at most 31";
    (void)name;
    (void)data;
    size_t n;
    const char *const p = RedisModule_StringPtrLen(value, &n);
    if (module_set_word(ev_settings.prefix, sizeof ev_settings.prefix, p, n) == SRV_OK)
        return SRV_OK;
    *err = RedisModule_CreateString(NULL, text, sizeof text - 1);
    return SRV_ERR;
}

static int config_register(server_ctx *ctx) {
    if (RedisModule_RegisterNumericConfig(ctx, "max-filter-bytes", ev_settings.max_filter_bytes,
                                          SRV_CONFIG_MEMORY, 4096, INT64_MAX, config_get_number,
                                          config_set_number, NULL, &ev_settings.max_filter_bytes) ||
        RedisModule_RegisterNumericConfig(ctx, "default-capacity", ev_settings.default_capacity, 0,
                                          1, 1LL << 40, config_get_number, config_set_number, NULL,
                                          &ev_settings.default_capacity) ||
        RedisModule_RegisterNumericConfig(ctx, "default-window", ev_settings.default_window, 0, 0,
                                          1LL << 40, config_get_number, config_set_number, NULL,
                                          &ev_settings.default_window) ||
        RedisModule_RegisterBoolConfig(ctx, "compat", ev_settings.compat, SRV_CONFIG_IMMUTABLE,
                                       config_get_bool, config_set_bool, NULL,
                                       &ev_settings.compat) ||
        RedisModule_RegisterStringConfig(ctx, "prefix", ev_settings.prefix, SRV_CONFIG_IMMUTABLE,
                                         config_get_prefix, config_set_prefix, NULL, NULL))
        return SRV_ERR;
    return RedisModule_LoadConfigs(ctx);
}

/* Arguments of loadmodule: pairs.  Called before the module has a name, and again when the server
 * has set the configuration. */
static int module_arguments(server_ctx *ctx, server_string **argv, int argc) {
    for (int i = 0; i < argc; i += 2) {
        size_t n;
        uint64_t number;
        int ok = 0;
        const char *const value = i + 1 < argc ? RedisModule_StringPtrLen(argv[i + 1], &n) : NULL;
        if (!value) {
            ok = 0;
        } else if (ev_is(argv[i], "name")) {
            ok = module_set_word(ev_settings.name, sizeof ev_settings.name, value, n) == SRV_OK;
        } else if (ev_is(argv[i], "prefix")) {
            ok = module_set_word(ev_settings.prefix, sizeof ev_settings.prefix, value, n) == SRV_OK;
        } else if (ev_is(argv[i], "compat")) {
            ok = ev_is(argv[i + 1], "yes") || ev_is(argv[i + 1], "no");
            ev_settings.compat = ev_is(argv[i + 1], "yes");
        } else if (ev_is(argv[i], "max-filter-bytes")) {
            ok = ev_number(argv[i + 1], &number) == SRV_OK && number >= 4096 && number <= INT64_MAX;
            if (ok) ev_settings.max_filter_bytes = (long long)number;
        } else if (ev_is(argv[i], "default-capacity") || ev_is(argv[i], "default-window")) {
            const int window = ev_is(argv[i], "default-window");
            ok = ev_number(argv[i + 1], &number) == SRV_OK && number <= (uint64_t)1 << 40 &&
                 (window || number > 0);
            if (ok)
                *(window ? &ev_settings.default_window : &ev_settings.default_capacity) =
                    (long long)number;
        }
        if (!ok) {
            RedisModule_Log(ctx, "warning",
                            "everbloom: argument %d of loadmodule is wrong: name, prefix, compat, "
                            "max-filter-bytes, default-capacity and default-window take a value",
                            i + 1);
            return SRV_ERR;
        }
    }
    return SRV_OK;
}

/* Commands */

static void module_describe(server_ctx *ctx, const char *name, const ev_entry *e) {
    static const RedisModuleCommandInfoVersion version = {
        1, sizeof(void *), sizeof(RedisModuleCommandKeySpec), sizeof(void *)};
    const int writes = !strncmp(e->flags, "write", 5);
    RedisModuleCommandKeySpec keys[3] = {
        {.flags = writes ? SRV_KEYS_RW | SRV_KEYS_ACCESS | SRV_KEYS_UPDATE
                         : SRV_KEYS_RO | SRV_KEYS_ACCESS,
         .begin = SRV_BEGIN_INDEX,
         .bs.index.pos = 1,
         .find = SRV_FIND_RANGE,
         .fk.range = {0, 1, 0}},
        {.flags = SRV_KEYS_RO | SRV_KEYS_ACCESS,
         .begin = SRV_BEGIN_INDEX,
         .bs.index.pos = 2,
         .find = SRV_FIND_KEYNUM,
         .fk.keynum = {0, 1, 1}}};
    if (e->keys < 2) memset(&keys[1], 0, sizeof keys[1]);
    const RedisModuleCommandInfo info = {.version = &version,
                                         .summary = e->summary,
                                         .complexity = e->complexity,
                                         .since = EB_VERSION,
                                         .arity = e->arity,
                                         .key_specs = e->keys ? keys : NULL};
    RedisModuleCommand *const command = RedisModule_GetCommand(ctx, name);
    if (!command) return;
    if (RedisModule_SetCommandInfo) RedisModule_SetCommandInfo(command, &info);
    if (RedisModule_SetCommandACLCategories) {
        char categories[64];
        snprintf(categories, sizeof categories, "everbloom %s %s", writes ? "write" : "read",
                 strstr(e->flags, "fast") ? "fast" : "slow");
        RedisModule_SetCommandACLCategories(command, categories);
    }
}

static int module_create(server_ctx *ctx, const char *prefix, const ev_entry *table) {
    for (const ev_entry *e = table; e->name; e++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%s", prefix, e->name);
        const int first = e->keys ? 1 : 0;
        if (RedisModule_CreateCommand(ctx, name, e->run, e->flags, first, first, first) != SRV_OK) {
            RedisModule_Log(ctx, "warning", "everbloom: another module has the command %s", name);
            return SRV_ERR;
        }
        if (RedisModule_GetCommand) module_describe(ctx, name, e);
    }
    return SRV_OK;
}

static int module_commands(server_ctx *ctx) {
    static const char *const names[EV_NAMES] = {"RESERVE", "INSERT", "HADD", "LOAD"};
    for (int i = 0; i < EV_NAMES; i++)
        snprintf(module_names[i], sizeof module_names[i], "%s.%s", ev_settings.prefix, names[i]);
    if (RedisModule_AddACLCategory) RedisModule_AddACLCategory(ctx, "everbloom");
    if (module_create(ctx, ev_settings.prefix, ev_commands_eb) != SRV_OK) return SRV_ERR;
    if (!ev_settings.compat) return SRV_OK;
    static const struct {
        const char *prefix;
        const ev_entry *table;
    } known[] = {{"BF", ev_commands_bf},
                 {"CMS", ev_commands_cms},
                 {"CF", ev_commands_cf},
                 {"TOPK", ev_commands_topk}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (module_create(ctx, known[i].prefix, known[i].table) != SRV_OK) return SRV_ERR;
    return SRV_OK;
}

static void module_info(RedisModuleInfoCtx *ctx, int crash) {
    (void)crash;
    if (RedisModule_InfoAddSection(ctx, "filters") != SRV_OK) return;
    RedisModule_InfoAddFieldCString(ctx, "version", EB_VERSION);
    RedisModule_InfoAddFieldULongLong(ctx, "filters", ev_total_filters);
    RedisModule_InfoAddFieldULongLong(ctx, "filter_bytes", ev_total_bytes);
    RedisModule_InfoAddFieldULongLong(ctx, "items_added", ev_total_adds);
    RedisModule_InfoAddFieldULongLong(ctx, "items_asked", ev_total_asks);
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(server_ctx *ctx, server_string **argv,
                                                              int argc);
int RedisModule_OnLoad(server_ctx *ctx, server_string **argv, int argc) {
    const char *missing;
    if (server_connect(ctx, &missing) != SRV_OK) {
        fprintf(stderr,
                "everbloom: this server has no %s: it must be Redis 7.0, Valkey 7.2 or later\n",
                missing);
        return SRV_ERR;
    }
    if (module_arguments(ctx, argv, argc) != SRV_OK ||
        RedisModule_IsModuleNameBusy(ev_settings.name))
        return SRV_ERR;
    RedisModule_SetModuleAttribs(ctx, ev_settings.name, EB_VERSION_NUMBER, SRV_API);
    if (config_register(ctx) != SRV_OK || module_arguments(ctx, argv, argc) != SRV_OK)
        return SRV_ERR;
    RedisModule_SetModuleOptions(ctx, SRV_HANDLE_IO_ERRORS | SRV_HANDLE_ASYNC_LOAD);
    if (ev_type_create(ctx) != SRV_OK || module_commands(ctx) != SRV_OK) return SRV_ERR;
    return RedisModule_RegisterInfoFunc(ctx, module_info);
}
