"""The guided tour: five stops, from the first screen to the comparison, on the example that ships with the product."""

from __future__ import annotations

from riskcore.runs import RunStore
from riskcore.runs.example import RUN, install_example
from tests.pages.conftest import checked, words


def press(app, label: str):
    return checked(next(button for button in app.button if button.label == label).click().run())


def test_the_tour_goes_from_stop_to_stop(screen, runs) -> None:
    app = press(screen("overview"), "Take the tour")
    assert RunStore(runs).get(RUN)
    seen = []
    for number in range(1, 6):
        assert app.query_params["tour"] == str(number)
        assert f"**Tour, {number} of 5.**" in words(app)
        seen.append(next(one.value for one in app.title))
        if number < 5:
            app = press(app, "Next stop")
    assert seen == ["Top-risk pairs", "Top-risk pairs", "Fine-tuning", "Top-risk pairs", "Compare"]
    app = press(app, "Back")
    assert app.query_params["tour"] == "4"
    assert "**Tour," not in words(press(app, "End the tour"))


def test_an_address_of_no_stop_shows_no_tour(screen, runs, done) -> None:
    assert "**Tour," not in words(screen("pairs", run=done.id, tour="3"))  # the example is not installed
    install_example(RunStore(runs))
    for text in ("0", "6", "x", "-1", "33"):
        assert "**Tour," not in words(screen("pairs", run=done.id, tour=text))
