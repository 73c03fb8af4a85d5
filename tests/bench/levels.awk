# SPDX-License-Identifier: Apache-2.0
# Reads the table `loadline` of two studies, each a CSV file with a heading. Prints the target of each level and the
# difference of the throughput at it, in percent. Omits the level with the maximum throughput: the others are relative
# to it, so it is always 100 %. Fails if a level is missing in one study.
BEGIN { FS = "," }
FNR == 1 {
    study++
    for (i = 1; i <= NF; i++)
        column[$i] = i
    next
}
{
    target = $column["target"]
    done[study, target] = $column["done"]
    if (!(target in seen)) {
        seen[target] = 1
        targets[++count] = target
    }
}
END {
    for (i = 1; i <= count; i++) {
        target = targets[i]
        if (!(done[1, target] > 0 && done[2, target] > 0)) {
            print "levels.awk: the level " target " has no throughput in one of the studies" >"/dev/stderr"
            exit 1
        }
    }
    for (i = 1; i <= count; i++) {
        target = targets[i]
        if (done[1, target] != 1 || done[2, target] != 1)
            print target, 100 * (done[2, target] / done[1, target] - 1)
    }
}
