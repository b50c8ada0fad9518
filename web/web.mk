# web.mk - the page: the planner of the command in a browser, as one file.
.PHONY: web run-web web-test

W := build/web
MODULES := build/node/node_modules
ifeq ($(FLAVOUR),wasm)
$(B)/web/%.o $(B)/cli/%.o: CPPFLAGS += -Icli -Iweb
$(W)/page.wasm: $(addprefix $(B)/,web/page.o wasm/glue.o cli/parts/question.o cli/output/report.o) $(LIB)
	@mkdir -p $(@D)
	$(LINK_MODULE)
$(MODULES)/installed: web/package.json web/package-lock.json
	@mkdir -p build/node && cp $^ build/node && npm ci --prefix build/node --silent --no-audit --no-fund && touch $@
$(W)/index.html: $(W)/page.wasm $(N)/package $(MODULES)/installed web/index.html web/style.css $(wildcard web/*.mjs)
	@node web/build.mjs $(W) $(MODULES) $(W)/page.wasm $(N)
web: $(W)/index.html
web-test: $(W)/index.html ## FLAVOUR=wasm: the page in a real browser, beside the command; the lines that it gives to copy are run
	@$(MAKE) --no-print-directory -s FLAVOUR=release build/release/everbloom build/release/everbloom-redis.so python
	@node --test tests/web/
else
web: ## the page, in build/web/
	@.ci/need --check web
	@$(MAKE) --no-print-directory -s -j$(JOBS) FLAVOUR=wasm web
run-web: web ## serve the page on loopback, and print its address
	@node web/serve.mjs $(W) $(PORT)
endif
