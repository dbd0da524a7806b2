# `cmake --install build/release [--prefix DIR]`, or with DESTDIR for packages. The program finds PREFIX/share/kiln
# beside itself (shared_folder() in factory/cli/invocation.h), so the folder may be moved as a whole. Tests, sources and build scripts stay behind.
include(GNUInstallDirs)

# A build of one target, as ci/demo's, has not made all that is installed.
install(CODE "
  if(NOT EXISTS \"$<TARGET_FILE:kiln>\" OR NOT EXISTS \"$<TARGET_FILE:kiln_registry_shared>\")
    execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target kiln kiln_registry_shared
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
")
install(TARGETS kiln RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY recipes matrix schema DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln USE_SOURCE_PERMISSIONS)
# As they lie here, so that their links lead somewhere; what they say of ci/pin holds where they are.
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
install(DIRECTORY ci/github ci/gitlab ci/jenkins ci/cron ci/systemd DESTINATION ${CMAKE_INSTALL_DOCDIR}/ci)
install(PROGRAMS ci/pin ci/share-steps DESTINATION ${CMAKE_INSTALL_DOCDIR}/ci)

# archspec's tables with the licence texts of the package they come from.
cmake_path(GET KILN_ARCHSPEC_JSON PARENT_PATH archspec_folder)
cmake_path(GET archspec_folder PARENT_PATH archspec_json_folder)
file(GLOB archspec_licences ${archspec_json_folder}/LICENSE* ${archspec_json_folder}/COPYRIGHT ${archspec_json_folder}/NOTICE)
install(FILES ${KILN_ARCHSPEC_JSON} ${archspec_licences} DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln/archspec)

# The library: find_package(kiln_registry) and kiln::registry, or pkg-config kiln_registry; the Python module lies beside it.
set_target_properties(kiln_registry_shared PROPERTIES EXPORT_NAME registry
  PUBLIC_HEADER "${CMAKE_SOURCE_DIR}/registry/abi/kiln_registry.h;${CMAKE_SOURCE_DIR}/registry/abi/kiln_registry.hpp")
install(TARGETS kiln_registry_shared EXPORT kiln_registry LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT kiln_registry NAMESPACE kiln:: FILE kiln_registry-config.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kiln_registry)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/kiln_registry-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/kiln_registry-config-version.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kiln_registry)
# It names its folders from where it lies, so that the folder may be moved.
file(RELATIVE_PATH KILN_INCLUDES_FROM_LIBRARIES /${CMAKE_INSTALL_LIBDIR} /${CMAKE_INSTALL_INCLUDEDIR})
configure_file(${CMAKE_SOURCE_DIR}/cmake/kiln_registry.pc.in ${CMAKE_BINARY_DIR}/kiln_registry.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/kiln_registry.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY registry/python/kiln DESTINATION ${CMAKE_INSTALL_LIBDIR}/python3/dist-packages
  PATTERN __pycache__ EXCLUDE)
install(PROGRAMS registry/python/mapper.py DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# Manual pages and completions, made by the program that was just built.
install(CODE "
  set(program \"$<TARGET_FILE:kiln>\")
  set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  set(manuals \"\${root}/${CMAKE_INSTALL_MANDIR}/man1\")
  file(MAKE_DIRECTORY \"\${manuals}\")
  message(STATUS \"Installing: \${manuals}/kiln*.1\")
  execute_process(COMMAND \"\${program}\" man --output \"\${manuals}\" COMMAND_ERROR_IS_FATAL ANY)
  foreach(pair bash=bash-completion/completions/kiln zsh=zsh/site-functions/_kiln fish=fish/vendor_completions.d/kiln.fish)
    string(REPLACE \"=\" \";\" pair \"\${pair}\")
    list(GET pair 0 shell)
    list(GET pair 1 file)
    set(file \"\${root}/${CMAKE_INSTALL_DATADIR}/\${file}\")
    get_filename_component(folder \"\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    message(STATUS \"Installing: \${file}\")
    execute_process(COMMAND \"\${program}\" completion \"\${shell}\" OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
")
