"""Put `app.py` beside the packed screens, in real wheels only: an editable installation uses the checkout's own."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackedApp(BuildHookInterface):  # type: ignore[type-arg]
    """Hatch can map folders to other places of a wheel by settings, but a single file only for all kinds of wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"]["app.py"] = "riskcore/_app/app.py"
