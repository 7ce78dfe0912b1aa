"""Live use: sessions with named users, whose answers come when they come."""
