# SPDX-License-Identifier: Apache-2.0
# Run by CPack before it makes the packages of Debian: adds what Debian wants in each, and compresses pages.
if(NOT CPACK_GENERATOR STREQUAL DEB)
    return()
endif()
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
if(DEFINED ENV{SOURCE_DATE_EPOCH})
    string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of that time
else()
    file(TIMESTAMP ${CPACK_SHOWSTOPPER_DEBIAN_FILES}/../../CHANGELOG.md date "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()

# compress FILE...: as the Debian policy asks, without a name and a time.
function(compress)
    execute_process(COMMAND gzip -9n ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(group PROGRAMS SDK DOCUMENTS)
    string(TOLOWER ${group} folder)
    set(root ${CPACK_TEMPORARY_DIRECTORY}/${folder}/usr/share)
    set(package ${CPACK_DEBIAN_${group}_PACKAGE_NAME})
    set(documents ${root}/doc/${package})
    file(MAKE_DIRECTORY ${documents})
    configure_file(${CPACK_SHOWSTOPPER_DEBIAN_FILES}/copyright ${documents}/copyright COPYONLY)
    configure_file(${CPACK_SHOWSTOPPER_DEBIAN_FILES}/changelog.in ${documents}/changelog.Debian @ONLY)
    configure_file(${CPACK_SHOWSTOPPER_DEBIAN_FILES}/../../CHANGELOG.md ${documents}/changelog COPYONLY)
    compress(${documents}/changelog.Debian ${documents}/changelog)
    file(GLOB pages ${root}/man/man[1-9]/*.[1-9])
    if(pages)
        compress(${pages})
    endif()
    set(overrides ${CPACK_SHOWSTOPPER_DEBIAN_FILES}/${package}.lintian-overrides)
    if(EXISTS ${overrides})
        file(MAKE_DIRECTORY ${root}/lintian/overrides)
        configure_file(${overrides} ${root}/lintian/overrides/${package} COPYONLY)
    endif()
endforeach()
# The license is in `copyright`, and changelog is the same text.
file(REMOVE ${CPACK_TEMPORARY_DIRECTORY}/documents/usr/share/doc/showstopper/LICENSE
    ${CPACK_TEMPORARY_DIRECTORY}/documents/usr/share/doc/showstopper/CHANGELOG.md)
