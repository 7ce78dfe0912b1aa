"""What answers say about preferences, and how sure that is."""
