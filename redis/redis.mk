# redis.mk - the module for Redis and Valkey, and its tests in real servers.
REDIS := $(B)/everbloom-redis.so
MODULEDIR ?= $(PREFIX)/lib/redis/modules
.PHONY: redis-test run-redis redis-soak install-redis uninstall-redis

$(B)/redis/%.o: CPPFLAGS += -fPIC -fvisibility=hidden
$(REDIS): $(call objects,redis/*.c) $(LIB) # it shows the server one symbol
	$(LINK) -shared -Wl,--exclude-libs,ALL -o $@ $^ -lm

# The servers load only files that may be executed.
install: install-redis
install-redis: $(REDIS)
	install -D -m 755 $(REDIS) $(DESTDIR)$(MODULEDIR)/everbloom.so
uninstall: uninstall-redis
uninstall-redis:
	rm -f $(DESTDIR)$(MODULEDIR)/everbloom.so

redis-test: $(REDIS) $(B)/everbloom ## the module in real servers: replicas, files, clusters, known clients
	@.ci/need --install redis
	@.ci/need --install node || true # without it, the tests of that client say so
	@tests/redis/run $(B) $(REDIS_TESTS)

run-redis: $(REDIS) ## a Redis server with the module, and a two-line example
	@.ci/need --install redis
	@redis/run.sh $(B)

redis-soak: $(REDIS) $(B)/everbloom ## an hour's worth of the same: a million operations, twenty million lines
	@EVERBLOOM_OPERATIONS=1e6 tests/redis/run $(B) replica
	@EVERBLOOM_LINES=1e7 tests/redis/run $(B) cluster
	@EVERBLOOM_LINES=1e7 EVERBLOOM_FILTER=default tests/redis/run $(B) cluster
	@$(MAKE) FLAVOUR=asan build/asan/everbloom-redis.so
	@EVERBLOOM_DAMAGES=1e5 tests/redis/run build/asan damage
