# sqlite.mk - the SQLite extension: build/<flavour>/sqlite/everbloom.so.
SQLITE_EXTENSION := $(B)/sqlite/everbloom.so
SQLITE_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard sqlite/*.c sql/*.c))
.PHONY: sqlite sqlite-test run-sqlite

$(B)/sqlite/%.o: sqlite/%.c Makefile sqlite/sqlite.mk
	@mkdir -p $(@D)
	$(COMPILE) -Isql -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
$(SQLITE_EXTENSION): $(SQLITE_OBJ) $(LIB) # nothing of the library is visible to the host
	$(LINK) -shared -Wl,--exclude-libs,ALL -o $@ $^ -lm

sqlite: ## the SQLite extension
	@.ci/need --install sqlite
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(SQLITE_EXTENSION)
	@echo "built $(SQLITE_EXTENSION): .load it without its ending"

sqlite-test: $(SQLITE_EXTENSION) $(B)/everbloom ## the extension in Python's SQLite, against exact answers (SQLITE_ROUNDS=3000)
	@$(SQLITE_PRELOAD) /usr/bin/python3 tests/sqlite/check.py $(basename $(SQLITE_EXTENSION)) $(B)/everbloom \
	  --rounds $(or $(SQLITE_ROUNDS),3000)

run-sqlite: ## a working example of the SQLite extension
	@.ci/need --install sqlite
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(SQLITE_EXTENSION)
	@sqlite/demo.sh $(SQLITE_EXTENSION)
