# SPDX-License-Identifier: Apache-2.0
"""Settings of all tests of the Python package."""

import os

import hypothesis

# The same cases in every run, without a folder of examples in the source.
hypothesis.settings.register_profile("tests", database=None, deadline=None, derandomize=True)
hypothesis.settings.load_profile("tests")

os.umask(0o022)  # files that others may write to decide no plan
