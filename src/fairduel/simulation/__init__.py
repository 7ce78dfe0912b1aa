"""Learners against instances, exact in law and in big steps."""
