# SPDX-License-Identifier: Apache-2.0
"""Reads and reports records of Showstopper."""

__version__ = "1.0.0"
