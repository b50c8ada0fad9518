# sql.mk - what the extensions of databases share.
$(B)/sql/%.o: sql/%.c Makefile sql/sql.mk
	@mkdir -p $(@D)
	$(COMPILE) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

.PHONY: bench-sql
bench-sql: ## what the extensions of databases cost, beside count() (BENCH_SQL_ROWS=1e7)
	@.ci/need --install postgres && .ci/need --install sqlite
	@$(MAKE) --no-print-directory -s -j$(JOBS) $(POSTGRES_MODULE) $(SQLITE_EXTENSION)
	@/usr/bin/python3 bench/postgres.py $(POSTGRES_MODULE) postgres $(BENCH_SQL_ROWS)
	@/usr/bin/python3 bench/sqlite.py $(basename $(SQLITE_EXTENSION))
