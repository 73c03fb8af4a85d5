# SPDX-License-Identifier: Apache-2.0
# Included by the cmake_install.cmake of the folder BUILD before and after everything else: lets all users enter the
# folders that the installation makes. install() obeys the umask, even with CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS,
# and root's may be 077. Folders that exist already keep their permissions.
if(NOT DEFINED new_folders)
    set(new_folders "")
    foreach(part . modules src tools tools/python)
        file(STRINGS ${BUILD}/${part}/cmake_install.cmake lines REGEX " DESTINATION \"")
        foreach(line IN LISTS lines)
            string(REGEX REPLACE ".* DESTINATION \"([^\"]*)\".*" "\\1" folder "${line}")
            string(REPLACE "\${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_PREFIX}" folder "${folder}")
            while(NOT folder STREQUAL "/" AND NOT EXISTS "$ENV{DESTDIR}${folder}")
                list(APPEND new_folders "${folder}")
                cmake_path(GET folder PARENT_PATH folder)
            endwhile()
        endforeach()
    endforeach()
else()
    list(REMOVE_DUPLICATES new_folders)
    foreach(folder IN LISTS new_folders)
        if(IS_DIRECTORY "$ENV{DESTDIR}${folder}")
            file(CHMOD "$ENV{DESTDIR}${folder}" PERMISSIONS
                OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
        endif()
    endforeach()
endif()
