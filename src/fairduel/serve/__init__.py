"""Polls that people vote in: storage, the rules of a poll, its learner, an API and pages."""
