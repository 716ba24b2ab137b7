"""What holds for all tests."""

import os

from hypothesis import settings

# A commit passes or fails the same way every time it is tested. To look for new failures, run
# `HYPOTHESIS_PROFILE=search make test`: other examples in each run, more of them, and what failed is remembered.
settings.register_profile("steady", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("search", max_examples=500, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
