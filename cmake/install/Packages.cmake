# `cpack -G DEB --config build/release/CPackConfig.cmake`: one package for each component of the installation.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME contrafact)
set(CPACK_PACKAGE_VENDOR "the Contrafact project")
set(CPACK_PACKAGE_CONTACT "the Contrafact project <contrafact@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_COMPONENTS_ALL runtime development debug)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_THREADS 0)  # one for each core

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME contrafact)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME contrafact-dev)
set(CPACK_DEBIAN_DEBUG_PACKAGE_NAME contrafact-dbgsym)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "concurrency what-if profiler
Records one run of a JVM or native program, and predicts what changes of its
concurrency would gain, without running it again.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "concurrency what-if profiler: headers and deferred methods
For plug-ins of contrafact profile, and for analyses of one's own programs.")
set(CPACK_COMPONENT_DEBUG_DESCRIPTION "concurrency what-if profiler: debug symbols")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEBUG_PACKAGE_SECTION debug)

# What the binaries are linked with is found by dpkg-shlibdeps; the decoder is loaded when it is needed (record --sets).
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS libzydis4.0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS graphviz)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS default-jre-headless)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "contrafact (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEBUG_PACKAGE_DEPENDS "contrafact (= ${PROJECT_VERSION})")
include(CPack)
