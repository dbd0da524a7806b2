# kiln_embed(<library> <function> <file>…): compiles the files into the library. Generates
# `std::map<std::string_view, std::string_view> kiln::<function>()`, file name → bytes; declare it where it is used.
function(kiln_embed library function)
  set(entries "")
  foreach(file ${ARGN})
    file(READ "${file}" text)
    get_filename_component(name "${file}" NAME)
    string(APPEND entries "      {\"${name}\", R\"embedded(${text})embedded\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endforeach()
  set(generated "${CMAKE_BINARY_DIR}/embedded/${function}.cc")
  file(CONFIGURE OUTPUT "${generated}" @ONLY CONTENT [[
#include <map>
#include <string_view>

#pragma GCC diagnostic ignored "-Woverlength-strings"  // C++ asks of compilers no more than 65,536 bytes

namespace kiln {
std::map<std::string_view, std::string_view> @function@();
std::map<std::string_view, std::string_view> @function@() {
  return {
@entries@  };
}
}  // namespace kiln
]])
  target_sources(${library} PRIVATE "${generated}")
endfunction()
