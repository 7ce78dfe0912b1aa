"""All compiled code."""
