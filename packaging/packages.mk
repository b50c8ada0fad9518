# packages.mk - the packages for Debian, and the check of the binary interface.
.PHONY: deb deb-test bindings-test abi

D := build/deb
deb: all ## packages for Debian, in build/deb/
	@.ci/need --check deb
	@rm -rf $(D) && mkdir -p $(D)/everbloom/build
	@tar -c --exclude=./build --exclude=./.git . | tar -x -C $(D)/everbloom && cp -a $(B) $(D)/everbloom/build/release
	@cd $(D)/everbloom && DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage -b -us -uc -nc -d >../build.log 2>&1 || \
	  { tail -n 40 ../build.log; exit 1; }
	@rm -rf $(D)/everbloom && ls $(D)/*.deb
deb-test: deb ## install them in a clean root and use them there (DEB_TEST_FLAGS=--apt: a root from the archive, by apt)
	@.ci/deb-test $(DEB_TEST_FLAGS)

bindings-test: all ## the examples of docs/BINDINGS.md, for the languages whose compilers are there
	@+MAKE="$(MAKE)" .ci/bindings-test

abi: $(SHARED) ## the binary interface against that of the last release, with abidiff
	@+MAKE="$(MAKE)" .ci/abi $(SHARED)
