#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: control groups.
# shellcheck disable=SC2154 # `here` is that of common.sh

# Prints why no group with a quota can be made; fails if one can.
why_no_groups() {
    "$here/env/group" why-not
}
