# SPDX-License-Identifier: Apache-2.0
# Removes what the last full `cmake --install` and the last one of each component wrote, below $DESTDIR if that is set.
#   cmake -DBUILD=FOLDER -P uninstall.cmake
file(GLOB manifests ${BUILD}/install_manifest.txt ${BUILD}/install_manifest_*.txt)
if(NOT manifests)
    message(FATAL_ERROR "Nothing was installed from ${BUILD}: it has no install_manifest*.txt")
endif()
set(folders)
foreach(manifest ${manifests})
    file(STRINGS ${manifest} files)
    foreach(file ${files})
        set(path "$ENV{DESTDIR}${file}")
        if(EXISTS "${path}" OR IS_SYMLINK "${path}")
            file(REMOVE "${path}")
            if(EXISTS "${path}" OR IS_SYMLINK "${path}")
                message(FATAL_ERROR "Cannot remove ${path}")
            endif()
            message(STATUS "Removed: ${path}")
        endif()
        # Folders that others may use, such as bin, remain.
        cmake_path(GET file PARENT_PATH folder)
        while(folder MATCHES "/showstopper(/|$)")
            list(APPEND folders "${folder}")
            cmake_path(GET folder PARENT_PATH folder)
        endwhile()
    endforeach()
endforeach()
list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING) # subfolders before their parents
foreach(folder ${folders})
    # Another version of Python compiles the package again.
    if(folder MATCHES "/showstopper/analysis/.*/__pycache__$")
        file(REMOVE_RECURSE "$ENV{DESTDIR}${folder}")
    endif()
    # Folders with other files remain. file(GLOB) would not find those if the path has a `[`.
    execute_process(COMMAND rmdir "$ENV{DESTDIR}${folder}" OUTPUT_QUIET ERROR_QUIET)
endforeach()
file(REMOVE ${manifests})
