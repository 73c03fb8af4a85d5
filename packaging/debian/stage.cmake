# SPDX-License-Identifier: Apache-2.0
# CPack runs this before it makes Debian packages: adds copyright, changelogs and lintian overrides to each, and
# compresses the manual pages.
if(NOT CPACK_GENERATOR STREQUAL DEB)
    return()
endif()
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
if(DEFINED ENV{SOURCE_DATE_EPOCH})
    string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # the time of SOURCE_DATE_EPOCH
else()
    file(TIMESTAMP ${CPACK_SHOWSTOPPER_DEBIAN_FILES}/../../CHANGELOG.md date "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()

# compress FILE...: without name and time, as Debian policy requires.
function(compress)
    execute_process(COMMAND gzip -9n ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(group PROGRAMS ANALYSIS SDK DOCUMENTS)
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
# A package compiles its Python files when it is installed.
file(GLOB_RECURSE compiled ${CPACK_TEMPORARY_DIRECTORY}/programs/*.pyc)
foreach(file ${compiled})
    cmake_path(GET file PARENT_PATH folder)
    file(REMOVE_RECURSE ${folder})
endforeach()
# Removes duplicates: the license is in `copyright`, the list of changes in `changelog`.
file(REMOVE ${CPACK_TEMPORARY_DIRECTORY}/documents/usr/share/doc/showstopper/LICENSE
    ${CPACK_TEMPORARY_DIRECTORY}/documents/usr/share/doc/showstopper/CHANGELOG.md)
# Debian's zsh looks for the completions of packages here, and in site-functions only below /usr/local.
set(zsh ${CPACK_TEMPORARY_DIRECTORY}/programs/usr/share/zsh)
if(EXISTS ${zsh}/site-functions)
    file(RENAME ${zsh}/site-functions ${zsh}/vendor-completions)
endif()
