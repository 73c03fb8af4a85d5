# SPDX-License-Identifier: Apache-2.0
#
# Makes pairs.csv and results.csv: what R says of the same pairs. To be run in this folder:
#   Rscript --vanilla make.R
# The tests read what it wrote, and need no R.

set.seed(20261120)
number <- function(values) ifelse(is.na(values), "", sprintf("%.17g", values))

# A symmetric staircase, 95 % to 5 % and back, with what was observed instead of the target.
levels <- seq(0.95, 0.05, by = -0.05)
loads <- round(c(levels, rev(levels)) + rnorm(38, sd = 0.004), 6)
halves <- rep(1:2, each = 19)
staircase <- function(intercept, slope, noise) {
    round(intercept + slope * loads + rnorm(38, sd = noise), 6)
}

cases <- list(
    known = data.frame(half = halves, x = loads, y = staircase(12.5, -3.75, 0.2)),
    noisy = data.frame(half = halves, x = loads, y = staircase(4, -0.05, 0.9)),
    rising = data.frame(half = halves, x = loads, y = staircase(0.02, 0.013, 0.0004)),
    constant = data.frame(half = halves, x = loads, y = rep(5.25, 38)),
    same_x = data.frame(half = halves, x = rep(0.5, 38), y = staircase(3, 0, 0.1)),
    one_half = data.frame(half = rep(1, 19), x = loads[1:19], y = staircase(9, -2, 0.05)[1:19]),
    three = data.frame(half = c(1, 1, 1), x = c(0.25, 0.5, 0.8), y = c(3.1, 2.4, 2.2)),
    two = data.frame(half = c(1, 1), x = c(0.25, 0.75), y = c(4, 3)))
missing_steps <- cases$known[-c(2, 9, 23, 24, 38), ]
missing_steps$y[c(4, 30)] <- NA
cases$missing <- missing_steps

results <- data.frame()
say <- function(case, half, name, value) {
    results <<- rbind(results,
        data.frame(case = case, half = half, name = name, value = unname(value)))
}

# Half 0: all pairs.
say_mean <- function(case, half, y) {
    interval <- function(level) {
        if (length(y) < 2 || sd(y) == 0) rep(if (length(y) < 2) NA else y[1], 2)
        else t.test(y, conf.level = level)$conf.int
    }
    say(case, half, "mean", mean(y))
    say(case, half, "deviation", sd(y))
    say(case, half, "low", interval(0.95)[1])
    say(case, half, "high", interval(0.95)[2])
    say(case, half, "low_99", interval(0.99)[1])
    say(case, half, "median", median(y))
}

# x is taken for the target and y for the load that came of it.
say_errors <- function(case, half, x, y) {
    say(case, half, "error_mean_percent", mean(100 * (x - y)))
    say(case, half, "error_mse_e4", mean(1e4 * (x - y)^2))
    say(case, half, "error_p95_percent", quantile(100 * abs(x - y), 0.95, type = 1))
}

say_fit <- function(case, half, x, y) {
    say(case, half, "count", length(x))
    # Two points lie on a line whatever they are: nothing is said of one.
    if (length(x) < 3 || length(unique(x)) < 2) return(c(NA, NA, NA, NA))
    model <- lm(y ~ x)
    coefficients <- suppressWarnings(summary(model))$coefficients
    # Of a constant R makes a slope from rounding; that there is none is what is to be said.
    flat <- length(unique(y)) < 2
    slope <- if (flat) 0 else coefficients["x", 1]
    intercept <- if (flat) y[1] else coefficients["(Intercept)", 1]
    say(case, half, "intercept", intercept)
    say(case, half, "slope", slope)
    if (flat) return(c(intercept, slope, NA, NA))
    say(case, half, "intercept_error", coefficients["(Intercept)", 2])
    say(case, half, "slope_error", coefficients["x", 2])
    say(case, half, "intercept_p", coefficients["(Intercept)", 4])
    say(case, half, "slope_p", coefficients["x", 4])
    say(case, half, "r_squared", summary(model)$r.squared)
    for (at in c(0, 0.3, 1)) {
        band <- predict(model, data.frame(x = at), interval = "confidence", level = 0.95)
        say(case, half, sprintf("band_%g", at), band[1, "fit"])
        say(case, half, sprintf("band_%g_low", at), band[1, "lwr"])
        say(case, half, sprintf("band_%g_high", at), band[1, "upr"])
    }
    c(intercept, slope, coefficients[, 4])
}

for (case in names(cases)) {
    pairs <- cases[[case]]
    there <- pairs[!is.na(pairs$y), ]
    say_mean(case, 0, there$y)
    say_errors(case, 0, there$x, there$y)
    say_fit(case, 0, there$x, there$y)
    lines <- lapply(1:2, function(half) {
        part <- there[there$half == half, ]
        if (nrow(part) < 2) c(NA, NA, NA, NA) else say_fit(case, half, part$x, part$y)
    })
    normal <- sapply(lines, function(line) line[2] / line[1])
    p <- unlist(lapply(lines, function(line) line[3:4]))
    say(case, 0, "metric_first", -100 * normal[1])
    say(case, 0, "metric_second", -100 * normal[2])
    say(case, 0, "metric", mean(-100 * normal))
    say(case, 0, "angle", abs(atan(normal[1]) - atan(normal[2])) * 180 / pi)
    say(case, 0, "significant", as.numeric(isTRUE(all(p < 0.05))))
}

pairs <- do.call(rbind, lapply(names(cases), function(case) cbind(case = case, cases[[case]])))
pairs$x <- number(pairs$x)
pairs$y <- number(pairs$y)
results$value <- number(results$value)
write.csv(pairs, "pairs.csv", row.names = FALSE, quote = FALSE)
write.csv(results, "results.csv", row.names = FALSE, quote = FALSE)
