# python.mk - the package for Python.  The sdist has the amalgamation, the headers and the command's sources; the wheel is
# linked with the library that is here.
.PHONY: python python-test

P := build/python
python: $(LIB) $(A)/everbloom.c ## a wheel for CPython 3.8 and later, and an sdist, in build/python/
	@.ci/need --check python
	@rm -rf $(P)/stage $(P)/everbloom-* && mkdir -p $(P)/stage/include
	@cp -r python/. cli LICENSE $(A)/everbloom.c $(P)/stage && cp -r include/everbloom $(P)/stage/include
	@cd $(P)/stage && /usr/bin/python3 -W ignore setup.py -q sdist -d ..
	@cd $(P)/stage && EVERBLOOM_LIBRARY=$(CURDIR)/$(LIB) /usr/bin/python3 -W ignore setup.py -q bdist_wheel -d .. 2>../wheel.log || { cat ../wheel.log; exit 1; }
	@echo "Built: pip install $$(ls $(P)/*.whl)"
python-test: python $(B)/everbloom $(B)/everbloom-redis.so $(B)/sqlite/everbloom.so $(B)/postgres/everbloom.so $(B)/duckdb/everbloom.duckdb_extension $(B)/tests/matrix/matrix ## install both into fresh virtual environments and run the tests
	@.ci/python-test
$(B)/tests/matrix/matrix: $(B)/tests/matrix/matrix.o $(LIB)
	$(LINK) -o $@ $^ -lm
