# postgres.mk - the PostgreSQL extension: build/<flavour>/postgres/everbloom.so.
PG_CONFIG ?= /usr/lib/postgresql/15/bin/pg_config
POSTGRES_MODULE := $(B)/postgres/everbloom.so
POSTGRES_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard postgres/*.c sql/*.c))
.PHONY: postgres postgres-test run-postgres install-postgres

# PostgreSQL's headers want GNU C and declarations of their own kind, and its macros cast const away; they are not ours to warn about.
$(B)/postgres/%.o: postgres/%.c Makefile postgres/postgres.mk
	@mkdir -p $(@D)
	$(COMPILE) -std=gnu11 -Isql -isystem $(shell $(PG_CONFIG) --includedir-server) -D_GNU_SOURCE -Wno-cast-qual -fPIC \
	  -MMD -MP -c -o $@ $<
$(POSTGRES_MODULE): $(POSTGRES_OBJ) $(LIB) # nothing of the library is visible to the host
	$(LINK) -shared -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -o $@ $^ -lm

postgres: ## the PostgreSQL extension (PG_CONFIG=...)
	@.ci/need --install postgres
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(POSTGRES_MODULE)

install-postgres: postgres ## into the server that PG_CONFIG names
	install -d $(DESTDIR)$(shell $(PG_CONFIG) --pkglibdir) $(DESTDIR)$(shell $(PG_CONFIG) --sharedir)/extension
	install -m 755 $(POSTGRES_MODULE) $(DESTDIR)$(shell $(PG_CONFIG) --pkglibdir)
	install -m 644 postgres/everbloom.control $(wildcard postgres/everbloom--*.sql) \
	  $(DESTDIR)$(shell $(PG_CONFIG) --sharedir)/extension

# Debian's server takes the sanitizers if they come first, and if messages are not translated.
POSTGRES_WORDS.asan := $(B)/postgres/untranslated.so
POSTGRES_PRELOAD.asan = SERVER_PRELOAD="$(shell $(CC) -print-file-name=libasan.so) $(CURDIR)/$(POSTGRES_WORDS.asan)"
$(B)/postgres/untranslated.so: tests/postgres/untranslated.c
	@mkdir -p $(@D)
	$(CC) -O1 -Wall -Wextra -Werror -fno-builtin -shared -fPIC -o $@ $<

postgres-test: $(POSTGRES_MODULE) $(POSTGRES_WORDS.$(FLAVOUR)) ## the extension on servers of its own, against exact answers (FLAVOUR=asan POSTGRES_ROUNDS=1e5 POSTGRES_TESTS=Hostile)
	@$(POSTGRES_PRELOAD.$(FLAVOUR)) /usr/bin/python3 tests/postgres/check.py $(POSTGRES_MODULE) postgres --rounds $(or $(POSTGRES_ROUNDS),2000) $(POSTGRES_TESTS)

run-postgres: ## a working example of the PostgreSQL extension, on a server of its own
	@.ci/need --install postgres
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(POSTGRES_MODULE)
	@/usr/bin/python3 tests/postgres/demo.py $(POSTGRES_MODULE) postgres
