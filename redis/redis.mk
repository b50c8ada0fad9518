# redis.mk - the module for Redis and Valkey, and its tests in real servers.
REDIS := $(B)/everbloom-redis.so
.PHONY: redis-test

$(B)/redis/%.o: CPPFLAGS += -fPIC -fvisibility=hidden
$(REDIS): $(call objects,redis/*.c) $(LIB) # it shows the server one symbol
	$(LINK) -shared -Wl,--exclude-libs,ALL -o $@ $^ -lm

redis-test: $(REDIS) $(B)/everbloom ## the module in real servers: replicas, files, clusters, known clients
	@.ci/need --install redis
	@.ci/need --install node || true # without it, the tests of that client say so
	@tests/redis/run $(B) $(REDIS_TESTS)
