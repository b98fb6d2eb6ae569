# Packages: `cmake --build build --target package` (or `make package`) writes steplens_VERSION_ARCH.deb, which needs only what the program loads, and,
# where they were found, steplens-torch_VERSION_ARCH.deb, which needs libtorch, and steplens-mpi_VERSION_ARCH.deb, which needs MPI. Man pages and completions are made by the program itself.
option(STEPLENS_DROP_IN_NAMES "Install links named msprof-analyze and msprof" OFF)
if(NOT CMAKE_CROSSCOMPILING)
  set(made ${CMAKE_BINARY_DIR}/made_by_program)
  add_custom_command(OUTPUT ${made}/done
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${made}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${made}/man ${made}/bash ${made}/zsh ${made}/fish
    COMMAND $<TARGET_FILE:steplens> docs man --output ${made}/man
    COMMAND $<TARGET_FILE:steplens> auto-completion bash > ${made}/bash/steplens
    COMMAND $<TARGET_FILE:steplens> auto-completion zsh > ${made}/zsh/_steplens
    COMMAND $<TARGET_FILE:steplens> auto-completion fish > ${made}/fish/steplens.fish
    COMMAND ${CMAKE_COMMAND} -E touch ${made}/done
    DEPENDS steplens VERBATIM)
  add_custom_target(made_by_program ALL DEPENDS ${made}/done)
  install(DIRECTORY ${made}/man/ DESTINATION share/man/man1)
  install(FILES ${made}/bash/steplens DESTINATION share/bash-completion/completions)
  install(FILES ${made}/zsh/_steplens DESTINATION share/zsh/vendor-completions)
  install(FILES ${made}/fish/steplens.fish DESTINATION share/fish/vendor_completions.d)
endif()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/steplens RENAME copyright)
if(STEPLENS_DROP_IN_NAMES)
  install(CODE "
    foreach(name msprof-analyze msprof)
      file(CREATE_LINK steplens \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/\${name}\" SYMBOLIC)
    endforeach()")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME steplens)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "the steplens developers <steplens@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Finds out why a training step is slow")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL Unspecified)
if(TARGET python_native AND STEPLENS_WITH_TORCH)
  list(APPEND CPACK_COMPONENTS_ALL torch)
endif()
if(TARGET steplens_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR} ${CMAKE_BINARY_DIR}/src/collect ${CMAKE_BINARY_DIR}/python/steplens)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME steplens)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS "libxlsxwriter4, python3")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SUGGESTS "steplens-torch, steplens-mpi")
set(CPACK_DEBIAN_TORCH_PACKAGE_NAME steplens-torch)
set(CPACK_DEBIAN_TORCH_PACKAGE_DEPENDS "steplens (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME steplens-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "steplens (= ${PROJECT_VERSION})")
include(CPack)
