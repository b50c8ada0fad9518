# sqlite.mk - the SQLite extension: build/<flavour>/sqlite/everbloom.so.
SQLITE_EXTENSION := $(B)/sqlite/everbloom.so
SQLITE_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard sqlite/*.c sql/*.c))
# Python is Debian's; our library brings the sanitizers into it, and they must be there first.
SQLITE_PRELOAD.asan = LD_PRELOAD=$(shell $(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0
.PHONY: sqlite sqlite-test sqlite-node-test run-sqlite

$(B)/sqlite/%.o: sqlite/%.c Makefile sqlite/sqlite.mk
	@mkdir -p $(@D)
	$(COMPILE) -Isql -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
$(SQLITE_EXTENSION): $(SQLITE_OBJ) $(LIB) # nothing of the library is visible to the host
	$(LINK) -shared -Wl,--exclude-libs,ALL -o $@ $^ -lm

sqlite: ## the SQLite extension
	@.ci/need --install sqlite
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(SQLITE_EXTENSION)
	@echo "built $(SQLITE_EXTENSION): .load it without its ending"

sqlite-test: $(SQLITE_EXTENSION) $(B)/everbloom ## the extension in Python's SQLite, against exact answers (FLAVOUR=asan SQLITE_ROUNDS=1e5)
	@$(SQLITE_PRELOAD.$(FLAVOUR)) /usr/bin/python3 tests/sqlite/check.py $(basename $(SQLITE_EXTENSION)) $(B)/everbloom \
	  --rounds $(or $(SQLITE_ROUNDS),3000) $(SQLITE_TESTS)

# better-sqlite3 brings an SQLite of its own, which npm compiles: more than a minute, the first time.
CLIENTS := build/clients
BETTER_SQLITE := better-sqlite3@11.10.0
sqlite-node-test: $(SQLITE_EXTENSION) ## the extension in better-sqlite3 for node
	@mkdir -p $(CLIENTS) && [ -d $(CLIENTS)/node_modules/better-sqlite3 ] || npm install --prefix $(CLIENTS) --no-save --no-audit --no-fund $(BETTER_SQLITE) >$(CLIENTS)/npm.log 2>&1 || \
	  { tail -n 3 $(CLIENTS)/npm.log; echo "$(BETTER_SQLITE) COULD NOT BE INSTALLED: skipped"; exit 0; }; \
	NODE_MODULES=$(CURDIR)/$(CLIENTS)/node_modules node tests/sqlite/better.mjs $(basename $(SQLITE_EXTENSION))

run-sqlite: ## a working example of the SQLite extension
	@.ci/need --install sqlite
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(SQLITE_EXTENSION)
	@sqlite/demo.sh $(SQLITE_EXTENSION)
