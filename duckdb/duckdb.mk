# duckdb.mk - the DuckDB extension: build/<flavour>/duckdb/everbloom.duckdb_extension.
DUCKDB_EXTENSION := $(B)/duckdb/everbloom.duckdb_extension
DUCKDB_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard duckdb/*.c sql/*.c))
DUCKDB_PACKAGE := duckdb==2.0.0
DUCKDB_PYTHON := build/clients/duckdb
# As for SQLite; DuckDB also throws exceptions, which the sanitizers must find when they start.
DUCKDB_PRELOAD.asan = LD_PRELOAD="$(shell $(CC) -print-file-name=libasan.so) $(shell $(CC) -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0
.PHONY: duckdb duckdb-test

$(B)/duckdb/%.o: duckdb/%.c Makefile duckdb/duckdb.mk
	@mkdir -p $(@D)
	$(COMPILE) -Isql -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
$(DUCKDB_EXTENSION): $(DUCKDB_OBJ) $(LIB) duckdb/footer.sh # nothing of the library is visible to the host
	$(LINK) -shared -Wl,--exclude-libs,ALL -o $@.so $(filter %.o %.a,$^) -lm
	@duckdb/footer.sh $(VERSION) <$@.so >$@

duckdb: $(DUCKDB_EXTENSION) ## the DuckDB extension
	@echo "built $(DUCKDB_EXTENSION): load '...' with allow_unsigned_extensions"

duckdb-test: $(DUCKDB_EXTENSION) $(B)/everbloom ## the extension in DuckDB for Python, against exact answers (FLAVOUR=asan)
	@mkdir -p build/clients && [ -d $(DUCKDB_PYTHON)/duckdb ] || \
	  /usr/bin/python3 -m pip install -q --no-deps --target $(DUCKDB_PYTHON) $(DUCKDB_PACKAGE) >build/clients/pip.log 2>&1 || \
	  { tail -n 3 build/clients/pip.log; echo "$(DUCKDB_PACKAGE) COULD NOT BE INSTALLED: skipped"; exit 0; }; \
	$(DUCKDB_PRELOAD.$(FLAVOUR)) PYTHONPATH=$(DUCKDB_PYTHON) /usr/bin/python3 tests/duckdb/check.py $(DUCKDB_EXTENSION) $(B)/everbloom
