"""What people see: tables, pictures and documents."""
