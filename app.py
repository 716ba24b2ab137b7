"""The screens' entry: which pages there are, then the one that was asked for."""

from pages.parts.frame.navigation import declare

declare().run()
