#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced by the experiments: which workloads run beside each other, and in which order.
# shellcheck disable=SC2034,SC2154 # variables are shared with them

# list_pairs: FRONT BACK, a line each, of `pairs`, or else of `workloads` with `background`.
list_pairs() {
    local front back
    case $pairs in
    '')
        for front in ${workloads//,/ }; do
            for back in ${background//,/ }; do
                echo "$front $back"
            done
        done
        ;;
    all)
        for front in ${workloads//,/ }; do
            for back in ${workloads//,/ }; do
                echo "$front $back"
            done
        done
        ;;
    symmetric)
        # Each two meet once, so turned that each is in front as often as behind, or once more.
        awk -v list="$workloads" 'BEGIN {
            count = split(list, names, ",")
            for (apart = 0; 2 * apart <= count; apart++)
                for (i = 0; i < (apart && 2 * apart == count ? apart : count); i++)
                    print names[i + 1], names[(i + apart) % count + 1]
        }'
        ;;
    *) tr ',:' '\n ' <<<"$pairs" ;;
    esac
}

# check_pairs: whether these pairs can be formed; sets `pair_names`, all workloads in them.
check_pairs() {
    local list pair twice
    twice=$(tr ',' '\n' <<<"$workloads" | sort | uniq -d)
    [ -z "$twice" ] || fail "--workloads: ${twice%%$'\n'*}: it is named twice"
    case $pairs in
    '' | all | symmetric) ;;
    *)
        IFS=, read -ra list <<<"$pairs"
        for pair in "${list[@]}"; do
            [[ $pair =~ ^[^:]+:[^:]+$ ]] ||
                fail "--pairs: $pair: all, symmetric or a list is wanted, as h2:xz,xz:h2"
        done
        twice=$(tr ',' '\n' <<<"$pairs" | sort | uniq -d)
        [ -z "$twice" ] || fail "--pairs: ${twice%%$'\n'*}: it is named twice"
        ;;
    esac
    read -ra pair_names <<<"$(list_pairs | tr ' ' '\n' | awk '!seen[$0]++' | paste -sd ' ')"
    [[ $pairs != *:* ]] || check_names pairs "${pair_names[@]}"
}

# order_runs ROUNDS PLACE...: of lines FRONT BACK makes FRONT BACK PLACE ROUND, every pair in every place.
# The order is balanced, so that a study that is interrupted, or a machine that changes, favors nothing:
# after any run, the numbers of times that each program was in front in each place differ by at most one, and
# likewise for behind. If each program is in front in as many pairs as it is behind, and all are in equally
# many, the pairs fall into groups in which each program is once in front and once behind (a regular
# bipartite graph consists of perfect matchings). A group passes through all places, each pair in another
# place in each pass, before the next group begins. Otherwise groups have gaps, and counts differ by them.
order_runs() {
    awk -v rounds="$1" -v list="${*:2}" '
        function number_of(name) {
            if (!(name in number)) {
                number[name] = ++count
                names[count] = name
            }
            return number[name]
        }
        function add(front, back, real) {
            edges++
            real_one[edges] = real
            between[front, back, ++many[front, back]] = edges
            degree_front[front]++
            degree_back[back]++
        }
        # Finds a partner for this program in front; others change theirs if necessary (an augmenting path).
        function find_partner(front,    apart, back, i, edge) {
            for (apart = 0; apart < count; apart++) {
                back = (front - 1 + apart) % count + 1
                if (tried[back])
                    continue
                for (i = 1; i <= many[front, back]; i++) {
                    edge = between[front, back, i]
                    if (used[edge])
                        continue
                    tried[back] = 1
                    if (!partner[back] || find_partner(partner[back])) {
                        partner[back] = front
                        by[front] = edge
                        behind[front] = back
                        return 1
                    }
                    break
                }
            }
            return 0
        }
        function common_divisor(a, b) {
            return b ? common_divisor(b, a % b) : a
        }
        { wanted[NR] = $1 " " $2; number_of($1); number_of($2) }
        END {
            places = split(list, place, " ")
            for (i = 1; i <= NR; i++) {
                split(wanted[i], pair, " ")
                add(number_of(pair[1]), number_of(pair[2]), 1)
            }
            for (i = 1; i <= count; i++) {
                degree = degree_front[i] > degree ? degree_front[i] : degree
                degree = degree_back[i] > degree ? degree_back[i] : degree
            }
            # Gaps are added until all programs are in equally many pairs.
            for (i = j = 1; i <= count; i++)
                while (degree_front[i] < degree) {
                    while (degree_back[j] >= degree)
                        j++
                    add(i, j, 0)
                }
            for (group = 1; group <= degree; group++) {
                split("", partner)
                for (i = 1; i <= count; i++) {
                    split("", tried)
                    find_partner(i)
                }
                sizes[group] = 0
                for (i = 1; i <= count; i++) {
                    used[by[i]] = 1
                    if (real_one[by[i]])
                        member[group, sizes[group]++] = names[i] " " names[behind[i]]
                }
            }
            for (round = 1; round <= rounds; round++)
                for (group = 1; group <= degree; group++) {
                    size = sizes[group]
                    if (!size)
                        continue
                    divisor = common_divisor(size, places)
                    for (first = 0; first < divisor; first++)
                        for (pass = 0; pass < places / divisor; pass++)
                            for (i = 0; i < size; i++)
                                print member[group, i],
                                    place[(first + pass * size + i) % places + 1], round
                }
        }'
}
