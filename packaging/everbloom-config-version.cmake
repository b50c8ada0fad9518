# While the version is 0.x, a program needs the minor version that it was written for.
set(PACKAGE_VERSION "@VERSION@")
if(PACKAGE_FIND_VERSION STREQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
string(REGEX REPLACE "^([0-9]+)\\.([0-9]+).*" "\\1.\\2" _everbloom_have "${PACKAGE_VERSION}")
string(REGEX REPLACE "^0\\.([0-9]+).*" "0.\\1" _everbloom_want "${PACKAGE_FIND_VERSION}")
if(PACKAGE_FIND_VERSION STREQUAL "" OR (PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION
    AND (_everbloom_want STREQUAL _everbloom_have OR NOT PACKAGE_VERSION VERSION_LESS 1.0)))
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
unset(_everbloom_have)
unset(_everbloom_want)
