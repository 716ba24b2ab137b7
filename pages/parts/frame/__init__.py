"""What every screen shares: page frame, navigation, palette, text, glossary."""
