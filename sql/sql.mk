# sql.mk - what the extensions of databases share.
$(B)/sql/%.o: sql/%.c Makefile sql/sql.mk
	@mkdir -p $(@D)
	$(COMPILE) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
