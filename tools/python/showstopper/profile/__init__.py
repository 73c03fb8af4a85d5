# SPDX-License-Identifier: Apache-2.0
"""ssprofile: what results of one machine say about another."""
