"""The entry script of the dashboard: declare the screens, then run the one that was requested."""

from pages.parts.frame.navigation import declare

declare().run()
