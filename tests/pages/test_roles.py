"""Who gets in, and what each role may do: asked when something is done, not only when its button is drawn."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.frame import access, actions
from riskcore.access import AccessError
from riskcore.audit import VerdictLog
from riskcore.runs import RunStore
from tests.pages.conftest import SIGN_IN, checked, claims_of, words
from tests.test_access import BROKEN

ADA = claims_of("ada@example.org")


@pytest.fixture
def roles(secrets_file, tmp_path):
    """Ada may enter; the file of roles says as what."""
    file = tmp_path / "roles.toml"
    secrets_file.write_text(
        f'{SIGN_IN}\n[access]\ndomains = ["example.org"]\nroles_file = "{file}"\n', encoding="utf-8"
    )

    def set_role(word: str) -> None:
        file.write_text(f'{word} = ["ada@example.org"]\n', encoding="utf-8")

    set_role("viewer")
    return set_role


def press(app, label: str):
    """Press a button as a forged message would: also where the screen disables it."""
    (button,) = [one for one in app.button if one.label == label]
    button.proto.disabled = False
    return button.click().run()


@pytest.fixture
def forged(monkeypatch):
    """The browser's word that a button is enabled: the screen disables none."""
    monkeypatch.setattr("pages.parts.frame.actions.may", lambda role: True)


def log_of(runs, run: str) -> int:
    return VerdictLog(RunStore(runs)).size(run)


@pytest.mark.parametrize(("section", "said"), BROKEN.values(), ids=BROKEN)
def test_with_rules_that_cannot_be_used_nothing_is_served(screen, secrets_file, monkeypatch, section, said):
    secrets_file.write_text(SIGN_IN, encoding="utf-8")
    monkeypatch.setattr(access, "access_section", lambda: section)
    app = screen("help", user=ADA)
    assert [one.value for one in app.error] == [
        "Riskcore shows no screen, because its sign-in settings cannot be used."
    ]
    assert said in app.code[0].value
    assert not app.button


@pytest.mark.parametrize(
    "user",
    [
        claims_of("eve@evil.net"),
        claims_of("ada@example.org", email_verified=False),
        claims_of("ada@example.org", iat=0),
        {"is_logged_in": True, "name": "ada@example.org"},
    ],
    ids=["another domain", "unverified", "long ago", "only a name"],
)
def test_who_is_not_let_in_sees_nothing_but_the_way_out(screen, done, roles, user):
    app = screen("pairs", user=user, run=done.id)
    again = ["Sign in again"] if user.get("iat") == 0 else []
    assert [one.label for one in app.button] == [*again, "Sign out"]
    assert len(app.warning) == 1
    assert "120 pairs" not in words(app)


def test_a_viewer_reads_and_can_sign_out(screen, done, roles):
    app = screen("pairs", user=ADA, run=done.id)
    assert "120 pairs" in words(app)
    assert "Sign out" in [one.label for one in app.button]
    assert any("viewer" in one.value for one in app.sidebar.caption)
    downloads = [one for one in app.get("download_button") if one.label == "Download"]
    assert all(one.proto.disabled and not one.proto.deferred_file_id for one in downloads)
    assert downloads


def test_a_viewers_forged_delete_does_nothing_and_says_why(screen, done, runs, roles, forged):
    app = screen("fine_tuning", user=ADA, run=done.id)
    app = press(app, "Delete permanently")
    assert RunStore(runs).get(done.id).id == done.id
    assert "needs the role owner, and ada@example.org has the role viewer" in words(app)


def test_a_viewers_forged_verdict_does_nothing_and_says_why(screen, done, runs, roles, forged):
    app = press(screen("pairs", user=ADA, run=done.id), "Open the first pair")
    app = press(app, "= Match")
    assert log_of(runs, done.id) == 0
    assert "needs the role auditor" in words(app)


def test_a_viewers_forged_start_does_nothing_and_says_why(screen, done, runs, roles, forged):
    app = press(screen("overview", user=ADA), "Run the sample")
    assert [one.id for one in RunStore(runs).list()] == [done.id]
    assert "needs the role operator" in words(app)


def test_a_viewer_is_offered_no_way_to_bring_data(screen, roles):
    app = screen("data_sets", user=ADA, add="tables")
    assert not app.get("file_uploader")
    assert not [one for one in app.get("button_group") if one.label == "Show"]


def test_controls_are_disabled_for_those_who_lack_the_role(screen, done, roles):
    def state(label: str) -> bool:
        app = screen("fine_tuning", user=ADA, run=done.id)
        return next(one.disabled for one in app.button if one.label == label)

    assert state("Delete permanently")
    roles("operator")
    assert state("Delete permanently")
    roles("owner")
    assert not state("Delete permanently")


def test_the_role_is_asked_for_when_the_button_is_pressed(screen, done, runs, roles):
    roles("auditor")
    app = press(screen("pairs", user=ADA, run=done.id), "Open the first pair")
    roles("viewer")
    app = press(app, "= Match")
    assert log_of(runs, done.id) == 0
    assert "needs the role auditor" in words(app)
    roles("auditor")
    app = press(app.run(), "= Match")
    assert [one.who for one in VerdictLog(RunStore(runs)).entries(done.id)] == ["ada@example.org"]


def test_a_file_of_roles_that_breaks_stops_everyone(screen, done, runs, roles, tmp_path):
    roles("owner")
    app = screen("fine_tuning", user=ADA, run=done.id)
    (tmp_path / "roles.toml").write_text("owner = ", encoding="utf-8")
    app = press(app, "Delete permanently")
    assert RunStore(runs).get(done.id).id == done.id
    assert "shows no screen" in words(app)


def test_a_part_that_draws_itself_asks_again(roles):
    """A fragment reruns without its page: the boundary around it asks whether the visitor is still let in."""

    def part() -> None:
        import streamlit as st

        from pages.parts.frame.errors import boundary

        with boundary("a part"):
            st.write("records")

    app = AppTest.from_function(part)
    app.user = ADA
    assert "records" in words(checked(app.run()))
    app.user = claims_of("eve@evil.net")
    app = checked(app.run())
    assert "records" not in words(app)
    assert "not allowed here" in words(app)


def test_a_download_asks_again_when_the_file_is_made(roles, monkeypatch):
    made = []
    monkeypatch.setattr(actions, "claims", lambda: ADA)
    monkeypatch.setattr(actions, "may", lambda role: True)
    monkeypatch.setattr(actions.st, "download_button", lambda label, make, *a, **k: made.append(make))
    actions.download(None, "Download", lambda: b"records", "a.csv", "text/csv")
    with pytest.raises(AccessError, match="needs the role auditor"):
        made[0]()
    roles("auditor")
    assert made[0]() == b"records"


def test_actions_are_logged_with_who_and_how_they_ended(screen, done, roles, forged, caplog):
    caplog.set_level("INFO", logger="riskcore.logs")
    app = press(screen("pairs", user=ADA, run=done.id), "Open the first pair")
    press(app, "= Match")
    roles("auditor")
    press(app.run(), "= Match")
    said = [one.riskcore_event for one in caplog.records if getattr(one, "riskcore_event", {}).get("event") == "action"]
    verdicts = [one for one in said if one["action"].startswith("audit.verdicts.")]
    assert [(one["role"], one["outcome"], one.get("error")) for one in verdicts] == [
        ("viewer", "refused", "AccessError"),
        ("auditor", "done", None),
    ]
    assert {(one["who"], one["run"]) for one in verdicts} == {("ada@example.org", done.id)}


def test_who_is_not_let_in_is_logged_once(screen, roles, caplog):
    caplog.set_level("INFO", logger="riskcore.logs")
    screen("help", user=claims_of("eve@evil.net")).run()
    (said,) = [one.riskcore_event for one in caplog.records if hasattr(one, "riskcore_event")]
    assert said == {"event": "sign-in", "who": "eve@evil.net", "outcome": "refused", "error": "AccessError"}
