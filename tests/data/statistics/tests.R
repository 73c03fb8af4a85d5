# SPDX-License-Identifier: Apache-2.0
#
# Makes tests-values.csv and tests-results.csv: tests of groups of values, as R computes them. Run it in
# this folder: Rscript --vanilla tests.R
# The tests read what it wrote, and need no R. R 4.2.2 wrote the files here.

number <- function(values) ifelse(is.na(values), "", sprintf("%.17g", values))
group <- function(name, values) data.frame(group = name, value = values)
set.seed(20261124)
noise <- function(n, mean, sd) round(rnorm(n, mean, sd), 4)

cases <- list(
    usual = rbind(group("a", noise(12, 200, 10)), group("b", noise(15, 205, 20)),
        group("c", noise(9, 215, 5))),
    # Bartlett's test and all comparisons have tiny p-values.
    far = rbind(group("a", noise(40, 100, 1)), group("b", noise(50, 180, 30)),
        group("c", noise(60, 300, 4)), group("d", noise(30, 300.5, 0.2))),
    skewed = rbind(group("a", round(exp(noise(30, 1, 1)), 3)), group("b", round(exp(noise(25, 1.4, 0.8)), 3))),
    ties = rbind(group("a", rpois(40, 4)), group("b", rpois(30, 5)), group("c", rpois(20, 9))),
    three = rbind(group("a", c(1, 2, 4)), group("b", c(5.5, 5.6, 9)), group("c", c(0.1, 0.2, 7))),
    # Every number of values up to 14: Royston's polynomials change after 3, 5 and 11.
    four = group("a", noise(4, 0, 1)), five = group("a", noise(5, 0, 1)), six = group("a", noise(6, 0, 1)),
    ten = group("a", noise(10, 0, 1)), eleven = group("a", noise(11, 0, 1)), twelve = group("a", noise(12, 0, 1)),
    thirteen = group("a", noise(13, 0, 1)), outlier = group("a", c(noise(13, 0, 1), 1e4)),
    outlier_of_ten = group("a", c(noise(9, 0, 1), 1e3)),
    steps = group("a", rep(1:6, each = 8)), straight = group("a", 10 + qnorm(ppoints(50))))
# Not in the file: (31 i^2 + 17 i) mod 10007 / 100 for i = 1 to 5000, which the test computes, too.
generated <- list(most = group("a", (31 * (1:5000)^2 + 17 * (1:5000)) %% 10007 / 100))

results <- data.frame()
say <- function(case, test, group, other, name, value)
    results <<- rbind(results, data.frame(case, test, group, other, name, value = unname(value)))

test_case <- function(case, data) {
    groups <- unique(data$group)
    data$group <- factor(data$group, levels = groups)
    values <- split(data$value, data$group)
    for (name in groups) {
        say(case, "sample", name, "", "mean", mean(values[[name]]))
        say(case, "sample", name, "", "deviation", sd(values[[name]]))
        shapiro <- shapiro.test(values[[name]])
        say(case, "shapiro", name, "", "statistic", shapiro$statistic)
        say(case, "shapiro", name, "", "p", shapiro$p.value)
    }
    if (length(groups) < 2) return()
    bartlett <- bartlett.test(value ~ group, data)
    say(case, "bartlett", "", "", "statistic", bartlett$statistic)
    say(case, "bartlett", "", "", "freedom", bartlett$parameter)
    say(case, "bartlett", "", "", "p", bartlett$p.value)
    means <- oneway.test(value ~ group, data)
    say(case, "anova", "", "", "statistic", means$statistic)
    say(case, "anova", "", "", "freedom", means$parameter[1])
    say(case, "anova", "", "", "freedom_within", means$parameter[2])
    say(case, "anova", "", "", "p", means$p.value)
    ranks <- kruskal.test(value ~ group, data)
    say(case, "kruskal", "", "", "statistic", ranks$statistic)
    say(case, "kruskal", "", "", "freedom", ranks$parameter)
    say(case, "kruskal", "", "", "p", ranks$p.value)
    holm <- pairwise.t.test(data$value, data$group, p.adjust.method = "holm", pool.sd = FALSE)$p.value
    for (one in seq_along(groups)) for (other in seq_along(groups)) if (one < other) {
        t <- t.test(values[[one]], values[[other]])
        wide <- t.test(values[[one]], values[[other]], conf.level = 0.99)
        add <- function(name, value) say(case, "welch", groups[one], groups[other], name, value)
        add("difference", mean(values[[one]]) - mean(values[[other]]))
        add("statistic", t$statistic)
        add("freedom", t$parameter)
        add("p", t$p.value)
        add("holm", holm[groups[other], groups[one]])
        add("low", t$conf.int[1])
        add("high", t$conf.int[2])
        add("low_99", wide$conf.int[1])
    }
}

for (case in names(cases)) test_case(case, cases[[case]])
for (case in names(generated)) test_case(case, generated[[case]])
values <- do.call(rbind, lapply(names(cases), function(case) cbind(case = case, cases[[case]])))
values$value <- number(values$value)
results$value <- number(results$value)
write.csv(values, "tests-values.csv", row.names = FALSE, quote = FALSE)
write.csv(results, "tests-results.csv", row.names = FALSE, quote = FALSE)
