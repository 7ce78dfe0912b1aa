"""Every test run draws the same examples, and none fails because the machine is busy."""

from hypothesis import settings

settings.register_profile("fairduel", derandomize=True, deadline=None)
settings.load_profile("fairduel")

pytest_plugins = ["browsers", "databases"]
