# SPDX-License-Identifier: Apache-2.0
# Packages by CPack; packaging/deb makes the Debian packages.
# Builders set their own contact. The default address is valid, but cannot exist (RFC 2606).
set(SHOWSTOPPER_CONTACT "No maintainer <nobody@showstopper.invalid>" CACHE STRING
    "Maintainer of the packages: NAME <ADDRESS>")
set(CPACK_PACKAGE_CONTACT ${SHOWSTOPPER_CONTACT})
set(CPACK_PACKAGE_NAME showstopper)
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# ---- the source: cmake --build build --target package_source ----

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME showstopper-${PROJECT_VERSION})
# The patterns contain the path of the source, because that may be below a folder named build.
string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" source_pattern "${PROJECT_SOURCE_DIR}")
set(CPACK_SOURCE_IGNORE_FILES)
foreach(ignored build "[.]git/" "[.]git$" "[.]cache/" Testing/ "compile_commands[.]json$")
    list(APPEND CPACK_SOURCE_IGNORE_FILES "^${source_pattern}/${ignored}")
endforeach()
list(APPEND CPACK_SOURCE_IGNORE_FILES "/__pycache__/")

# ---- Debian: a package for each group of components ----

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian/stage.cmake)
set(CPACK_SHOWSTOPPER_DEBIAN_FILES ${CMAKE_CURRENT_LIST_DIR}/debian)
set(CPACK_VERBATIM_VARIABLES ON)

# Components form groups, and each group becomes a package.
set(CPACK_COMPONENT_CORE_GROUP programs)
set(CPACK_COMPONENT_TOOLS_GROUP programs)
set(CPACK_COMPONENT_PYTHON_GROUP programs)
set(CPACK_COMPONENT_ANALYSIS_GROUP analysis)
set(CPACK_COMPONENT_SDK_GROUP sdk)
set(CPACK_COMPONENT_DOCUMENTS_GROUP documents)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME showstopper)
set(CPACK_DEBIAN_ANALYSIS_PACKAGE_NAME showstopper-analysis)
set(CPACK_DEBIAN_SDK_PACKAGE_NAME libshowstopper-dev)
set(CPACK_DEBIAN_DOCUMENTS_PACKAGE_NAME showstopper-doc)

# The first line of a description is the synopsis. CPack would put a summary before it.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(about "Showstopper runs copies of any program, unchanged, and stops and
continues them under feedback control, so that the CPU load of the machine
holds a target or follows a load trace.")
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION "run real programs at an exact partial CPU load
${about} It works for whole process
trees, corrects for other load, and needs no special privileges.
.
This package has showstopper and its tools: ssload measures the CPU load,
ssburn has synthetic workloads, sstrace edits load traces, ssbatch carries
out studies, sslab plans them, ssrequest measures response times, ssprofile compares machines,
ssactuate sets them up, and sssim simulates them. Reports are in the package
showstopper-analysis.")
set(CPACK_COMPONENT_ANALYSIS_DESCRIPTION "reports of runs of showstopper
${about}
.
This package has ssreport, which reports records of such runs, and what
ssprofile and ssantagonist need for their answers. It is written in Python.")
set(CPACK_COMPONENT_SDK_DESCRIPTION "headers for modules of showstopper
${about}
.
This package has the headers that modules are compiled with, files for
pkg-config and CMake, and a module to start from.")
set(CPACK_COMPONENT_DOCUMENTS_DESCRIPTION "documents about showstopper
${about}
.
This package has an introduction with examples and the list of changes. The
manual pages come with the programs.")

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_DEPENDS "python3 (>= 3.11)") # of sslab
# They compile the Python package, because the version of Python may change.
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_CONTROL_EXTRA
    "${CMAKE_CURRENT_LIST_DIR}/debian/programs/postinst;${CMAKE_CURRENT_LIST_DIR}/debian/programs/prerm")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS showstopper-analysis) # reports and pictures
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS
    "showstopper-doc, lxc, openssh-client, parallel, podman, qemu-system-x86, slurm-client, stress-ng")
set(CPACK_DEBIAN_ANALYSIS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_ANALYSIS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_ANALYSIS_PACKAGE_DEPENDS "showstopper (>= ${PROJECT_VERSION}), \
python3-jinja2, python3-matplotlib, python3-numpy, python3-pandas, python3-scipy")
set(CPACK_DEBIAN_SDK_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_SDK_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_SDK_PACKAGE_RECOMMENDS showstopper)
set(CPACK_DEBIAN_SDK_PACKAGE_SUGGESTS "pkgconf | pkg-config, cmake")
set(CPACK_DEBIAN_DOCUMENTS_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCUMENTS_PACKAGE_ARCHITECTURE all)

include(CPack)
cpack_add_component_group(programs)
cpack_add_component_group(analysis)
cpack_add_component_group(sdk)
cpack_add_component_group(documents)
