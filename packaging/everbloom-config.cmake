# find_package(everbloom) gives everbloom::everbloom (shared) and everbloom::static.
get_filename_component(_everbloom_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(_everbloom_include "@INCLUDE@")
if(NOT IS_ABSOLUTE "${_everbloom_include}")
  get_filename_component(_everbloom_include "${CMAKE_CURRENT_LIST_DIR}/${_everbloom_include}" ABSOLUTE)
endif()
if(NOT TARGET everbloom::everbloom)
  add_library(everbloom::everbloom SHARED IMPORTED)
  set_target_properties(everbloom::everbloom PROPERTIES
    IMPORTED_LOCATION "${_everbloom_lib}/@SHARED@" IMPORTED_SONAME "@SONAME@"
    INTERFACE_INCLUDE_DIRECTORIES "${_everbloom_include}")
  add_library(everbloom::static STATIC IMPORTED)
  set_target_properties(everbloom::static PROPERTIES
    IMPORTED_LOCATION "${_everbloom_lib}/libeverbloom.a" IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${_everbloom_include}" INTERFACE_LINK_LIBRARIES m)
endif()
unset(_everbloom_lib)
unset(_everbloom_include)
