"""What the screens share. Not discovered as pages; nothing here imports torch."""
