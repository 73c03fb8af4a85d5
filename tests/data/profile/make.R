# SPDX-License-Identifier: Apache-2.0
#
# Makes results.csv, the results of two machines, one of them also throttled, and figures.csv: what R
# says of them. To be run in this folder, as it was with R 4.2.2:
#   Rscript --vanilla make.R
# The tests read what it wrote, and need no R.

set.seed(20261122)
count <- 25
names <- sprintf("kernel-%02d", seq_len(count))
lower <- seq_len(count) %% 4 == 0
speed <- exp(rnorm(count, mean = 4, sd = 2))
better <- exp(rnorm(count, mean = log(2.6), sd = 0.25))
noisy <- function(n) exp(rnorm(n, sd = 0.01))

results <- data.frame()
measure <- function(machine, limits, factor, repetitions) {
    for (i in seq_len(count)) {
        n <- repetitions[(i - 1) %% length(repetitions) + 1]
        rate <- signif(speed[i] * factor[i] * noisy(n), 7)
        results <<- rbind(results, data.frame(machine = machine, limits = limits,
            benchmark = names[i], lower_is_better = ifelse(lower[i], "true", "false"), class = "cpu",
            repetition = seq_len(n), result = if (lower[i]) signif(1000 / rate, 7) else rate))
    }
}
measure("base", "without", rep(1, count), c(5, 3))
measure("target", "without", better, c(4, 5, 2))
measure("target", "quota-3900", better * 0.39 * exp(rnorm(count, sd = 0.02)), 3)
write.csv(results, "results.csv", row.names = FALSE, quote = FALSE)

figures <- data.frame()
say <- function(limits, name, value) {
    figures <<- rbind(figures,
        data.frame(limits = limits, name = name, value = sprintf("%.17g", unname(value))))
}
of <- function(machine, limits, i) {
    results$result[results$machine == machine & results$limits == limits &
        results$benchmark == names[i]]
}

all <- list()
for (limits in c("without", "quota-3900")) {
    ratios <- sapply(seq_len(count), function(i) {
        pairs <- if (lower[i]) outer(of("base", "without", i), of("target", limits, i), "/")
                 else outer(of("target", limits, i), of("base", "without", i), "/")
        mean(pairs)
    })
    for (i in seq_len(count)) say(limits, names[i], ratios[i])
    # What the machine takes longer: the mean that the published search is told.
    say(limits, "time_mean", mean(sapply(seq_len(count), function(i) {
        mean(if (lower[i]) outer(of("target", limits, i), of("base", "without", i), "/")
             else outer(of("base", "without", i), of("target", limits, i), "/"))
    })))
    say(limits, "least", min(ratios))
    say(limits, "most", max(ratios))
    say(limits, "length", diff(range(ratios)))
    say(limits, "median", median(ratios))
    say(limits, "mean", mean(ratios))
    say(limits, "geometric", exp(mean(log(ratios))))
    say(limits, "most_to_least", max(ratios) / min(ratios))
    say(limits, "variation", sd(ratios) / mean(ratios))
    # The benchmarks are fixed: the variance is that of repetitions, on either side of each.
    logs <- lapply(seq_len(count), function(i) list(
        base = log(of("base", "without", i)), target = log(of("target", limits, i))))
    sign <- ifelse(lower, -1, 1)
    part <- unlist(lapply(logs, function(l)
        c(var(l$base) / length(l$base), var(l$target) / length(l$target)))) / count^2
    freedom <- unlist(lapply(logs, function(l) c(length(l$base), length(l$target)))) - 1
    say(limits, "log_mean", mean(sign * sapply(logs, function(l) mean(l$target) - mean(l$base))))
    say(limits, "log_of_04", mean(log(of("base", "without", 4))) - mean(log(of("target", limits, 4))))
    say(limits, "log_half",
        qt(0.975, sum(part)^2 / sum(part^2 / freedom)) * sqrt(sum(part)))
    spread <- t.test(of("target", limits, 1))$conf.int
    say(limits, "spread", diff(spread) / 2 / mean(of("target", limits, 1)))
    spread <- t.test(of("base", "without", 25))$conf.int
    say(limits, "base_spread", diff(spread) / 2 / mean(of("base", "without", 25)))
    bins <- table(cut(ratios, seq(0, 10, 0.1)))
    for (i in which(bins > 0)) say(limits, sprintf("bin_%d", i), bins[i])
    # The bounds of a prediction are order statistics.
    for (k in c(0, 1, 2, 5)) {
        say(limits, sprintf("low_%d", k), sort(ratios)[k + 1])
        say(limits, sprintf("high_%d", k), rev(sort(ratios))[k + 1])
    }
    all[[limits]] <- ratios
}
plain <- all[["without"]]
throttled <- all[["quota-3900"]]
reduction <- diff(range(plain)) / diff(range(throttled))
factor <- exp(mean(log(plain)) - mean(log(throttled)))
say("both", "reduction", reduction)
say("both", "factor", factor)
say("both", "relative", reduction / factor)
say("both", "share", log(factor) / log(reduction))
# One profile as two: odd repetitions of the base as base, even ones as target.
halves <- sapply(seq_len(count), function(i) {
    both <- of("base", "without", i)
    odd <- both[seq(1, length(both), 2)]
    even <- both[seq(2, length(both), 2)]
    mean(if (lower[i]) outer(odd, even, "/") else outer(even, odd, "/"))
})
for (i in seq_len(count)) say("halves", names[i], halves[i])
say("halves", "least", min(halves))
say("halves", "most", max(halves))
say("halves", "median", median(halves))
say("halves", "geometric", exp(mean(log(halves))))
say("halves", "variation", sd(halves) / mean(halves))
# Coverage by counting: of all orders of 25 + 1 exchangeable values the last is in any place.
for (k in 0:4) say("both", sprintf("coverage_%d", k), mean((1:26) > k + 1 & (1:26) <= 26 - (k + 1)))
write.csv(figures, "figures.csv", row.names = FALSE, quote = FALSE)
