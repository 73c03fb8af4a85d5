# SPDX-License-Identifier: Apache-2.0
"""Reports: tables, figures and pages of what a study contains, topic by topic."""
