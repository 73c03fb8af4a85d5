# SPDX-License-Identifier: Apache-2.0
"""ssprofile: what a result of one machine is worth on another."""
