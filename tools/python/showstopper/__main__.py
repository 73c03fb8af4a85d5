# SPDX-License-Identifier: Apache-2.0
"""`python3 -m showstopper PROGRAM ...` runs a program of the package."""

from .cli import launch

launch()
