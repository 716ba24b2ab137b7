"""Who is let in, under which name, and with which role."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import pytest

from riskcore.access import AccessError, AccessRules, Role, parse_rules, read_roles, visitor
from riskcore.errors import ConfigError

NOW = 1_700_000_000.0
ADA = {
    "iss": "https://login.example.org",
    "sub": "17",
    "iat": NOW - 60,
    "email": "Ada@Example.org",
    "email_verified": True,
    "name": "Ada",
}
BROKEN = {
    "no section": (None, "it is missing"),
    "a text": ("everyone", "it is missing"),
    "empty": ({}, "lets nobody in"),
    "nobody": ({"everyone": False}, "lets nobody in"),
    "a misspelt setting": ({"email": ["ada@example.org"]}, "email is no setting"),
    "a text for a list": ({"emails": "ada@example.org"}, "emails is not a list of texts"),
    "an empty list": ({"domains": []}, "domains is not a list of texts"),
    "no address": ({"emails": ["ada"]}, "ada is no e-mail address"),
    "a wildcard": ({"domains": ["*.org"]}, "*.org is no domain"),
    "a claim without values": ({"claim": "groups"}, "claim and values belong together"),
    "everyone and some": ({"everyone": True, "domains": ["example.org"]}, "everyone is true"),
    "everyone in words": ({"everyone": "yes"}, "everyone is neither true nor false"),
    "an unknown role": ({"everyone": True, "default_role": "admin"}, "default_role is none of"),
    "two sources of roles": ({"everyone": True, "role_claim": "r", "roles_file": "/r"}, "exclude each other"),
    "a relative path": ({"everyone": True, "roles_file": "roles.toml"}, "roles_file is not a path from the root"),
    "no file of roles": ({"everyone": True, "roles_file": "/nowhere/roles.toml"}, "cannot be read"),
    "no time": ({"everyone": True, "hours": 0}, "hours is not a number above 0"),
}


@pytest.mark.parametrize(("section", "said"), BROKEN.values(), ids=BROKEN)
def test_a_section_that_cannot_be_used_is_refused(section, said):
    with pytest.raises(ConfigError, match="cannot be") as error:
        parse_rules(section)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "section",
    [
        {"emails": ["ada@EXAMPLE.org"]},
        {"domains": ["@example.org"]},
        {"claim": "sub", "values": ["17"]},
        {"everyone": True},
    ],
)
def test_those_who_are_named_are_let_in(section):
    assert visitor(parse_rules(section), ADA, NOW).name == "ada@example.org"


@pytest.mark.parametrize(
    "claims",
    [
        {**ADA, "email": "ada@example.org.evil.net"},
        {**ADA, "email": "eve@evil.net", "name": "ada@example.org"},
        {**ADA, "email_verified": False},
        {key: value for key, value in ADA.items() if key != "email_verified"},
        {**ADA, "email": "eve@evil.net@example.org"},
        {**ADA, "email": ["ada@example.org"]},
    ],
    ids=["another domain", "a name like an address", "unverified", "never verified", "two signs", "a list"],
)
def test_others_are_not(claims):
    rules = parse_rules({"emails": ["ada@example.org"], "domains": ["example.org"]})
    with pytest.raises(AccessError, match="not allowed here"):
        visitor(rules, claims, NOW)


def test_without_a_verified_address_the_name_is_what_the_service_numbers_the_person_by():
    rules = parse_rules({"everyone": True})
    found = visitor(rules, {**ADA, "email_verified": False}, NOW)
    assert found.name == "17 at https://login.example.org"
    with pytest.raises(AccessError, match="confirmed neither"):
        visitor(rules, {"name": "Ada", "email": "ada@example.org", "iat": NOW}, NOW)


def test_a_claim_lets_in_by_any_of_its_values():
    rules = parse_rules({"claim": "groups", "values": ["matching"]})
    assert visitor(rules, {**ADA, "groups": ["sales", "matching"]}, NOW).role is Role.VIEWER
    for groups in ("sales", ["matching team"], None, {"matching": 1}, []):
        with pytest.raises(AccessError):
            visitor(rules, {**ADA, "groups": groups}, NOW)


@pytest.mark.parametrize("issued", [NOW - 12 * 3600 - 1, None, "now"])
def test_an_old_sign_in_ends(issued):
    with pytest.raises(AccessError, match="older than 12 hours"):
        visitor(parse_rules({"everyone": True}), {**ADA, "iat": issued}, NOW)
    assert visitor(parse_rules({"everyone": True}), {**ADA, "iat": time.time()}).role is Role.VIEWER


def test_roles_by_a_claim():
    rules = parse_rules({"everyone": True, "role_claim": "roles", "default_role": "auditor"})
    for said, role in (("owner", Role.OWNER), (["viewer", "operator"], Role.OPERATOR), ("root", Role.AUDITOR)):
        assert visitor(rules, {**ADA, "roles": said}, NOW).role is role


def test_roles_by_a_file_are_read_anew(tmp_path):
    file = tmp_path / "roles.toml"
    file.write_text('auditor = ["@example.org"]\nowner = ["ADA@example.org", "17 at https://login.example.org"]')
    rules = parse_rules({"everyone": True, "roles_file": str(file)})
    assert visitor(rules, ADA, NOW).role is Role.OWNER
    assert visitor(rules, {**ADA, "email": "bob@example.org"}, NOW).role is Role.AUDITOR
    assert visitor(rules, {**ADA, "email": "bob@other.org"}, NOW).role is Role.VIEWER
    assert visitor(rules, {**ADA, "email_verified": False}, NOW).role is Role.OWNER
    file.write_text('auditor = ["@example.org"]\nowner = []')
    assert visitor(rules, ADA, NOW).role is Role.AUDITOR
    file.unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        visitor(rules, ADA, NOW)


@pytest.mark.parametrize(
    "text", ["owner = ", 'admin = ["ada@example.org"]', 'owner = "ada@example.org"', "owner = [7]"]
)
def test_a_file_of_roles_that_cannot_be_used_is_refused(tmp_path, text):
    file = tmp_path / "roles.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"roles\.toml cannot be"):
        read_roles(str(file))


def test_every_setting_and_role_is_described():
    text = (Path(__file__).parents[1] / "docs" / "deploy.md").read_text(encoding="utf-8")
    for field in dataclasses.fields(AccessRules):
        assert f"`{field.name}`" in text
    for role in Role:
        assert f"\n| {role.word} |" in text
