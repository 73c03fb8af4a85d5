# SPDX-License-Identifier: Apache-2.0
"""ssantagonist plan and answer; the C program has the other commands and executes these."""
