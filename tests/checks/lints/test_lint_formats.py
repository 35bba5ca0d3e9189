"""How findings are written for others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from semel.checks import Place, Problem, as_dict
from semel.checks.formats import as_github, as_json, as_sarif
from semel.checks.lints import LINTS

ROOT = Path("/programs/shop").absolute()


def problem(**changed: Any) -> Problem:
    place = Place(str(ROOT / "a folder" / "ünï.py"), 3, 5)
    given = {
        "rule": LINTS[0],
        "spec": "E",
        "message": "50% is\nlost: a, b",
        "place": place,
        "others": (Place("/elsewhere/b.py", 1, 2),),
        "fix": "once(…)",
    }
    return Problem(**{**given, **changed})


def test_json_has_the_keys_of_check() -> None:
    assert json.loads(as_json([problem()])) == {"problems": [json.loads(json.dumps(as_dict(problem())))]}


def only(value: dict[str, Any], required: set[str], optional: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    assert required <= set(value) <= required | optional, value


def valid_location(location: dict[str, Any], bases: dict[str, Any]) -> None:
    only(location, {"physicalLocation"}, {"id"})
    physical = location["physicalLocation"]
    only(physical, {"artifactLocation", "region"})
    file, region = physical["artifactLocation"], physical["region"]
    only(file, {"uri"}, {"uriBaseId"})
    assert file["uri"].isascii()
    assert " " not in file["uri"]
    if "uriBaseId" in file:
        assert file["uriBaseId"] in bases
        assert ":" not in file["uri"]
        assert not file["uri"].startswith("/")
    else:
        assert file["uri"].startswith("file:///")
    only(region, {"startLine", "startColumn"})
    assert region["startLine"] >= 1
    assert region["startColumn"] >= 1


def valid_sarif(text: str) -> dict[str, Any]:
    """What the SARIF 2.1.0 schema and its text require of the parts that are used; gives the run."""
    log = json.loads(text)
    only(log, {"$schema", "version", "runs"})
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    only(run, {"tool", "results", "columnKind", "originalUriBaseIds"})
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    for base in run["originalUriBaseIds"].values():
        only(base, {"uri"})
        assert base["uri"].startswith("file:///")
        assert base["uri"].endswith("/")
    only(run["tool"], {"driver"})
    driver = run["tool"]["driver"]
    only(driver, {"name", "version", "rules"})
    for rule in driver["rules"]:
        only(rule, {"id", "shortDescription", "help", "defaultConfiguration"})
        only(rule["shortDescription"], {"text"})
        only(rule["help"], {"text", "markdown"})
        assert rule["shortDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    for result in run["results"]:
        only(result, {"ruleId", "ruleIndex", "level", "message", "locations"}, {"relatedLocations"})
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        only(result["message"], {"text"})
        for location in [*result["locations"], *result.get("relatedLocations", [])]:
            valid_location(location, run["originalUriBaseIds"])
        related = [location["id"] for location in result.get("relatedLocations", [])]
        assert len(related) == len(set(related))
    return run


@pytest.mark.rule("E")
def test_sarif_is_valid_and_names_places_from_the_root() -> None:
    run = valid_sarif(as_sarif([problem(), problem(rule="helper-called-twice", others=())], LINTS, ROOT))
    first, second = run["results"]
    assert first["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "a%20folder/%C3%BCn%C3%AF.py",
        "uriBaseId": "%SRCROOT%",
    }
    assert first["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///elsewhere/b.py"
    assert first["message"]["text"] == "50% is\nlost: a, b\n\nWrite:\nonce(…)"
    assert (first["level"], second["level"]) == ("warning", "error")


def test_sarif_without_findings_describes_what_was_asked() -> None:
    run = valid_sarif(as_sarif([], LINTS, ROOT))
    assert run["results"] == []
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == sorted(LINTS)
    assert "step" in run["tool"]["driver"]["rules"][1]["shortDescription"]["text"]


@pytest.mark.rule("E")
def test_github_commands_are_one_line_each_with_what_ends_them_escaped() -> None:
    first, second = as_github([problem(), problem(place=Place("/else, where:/c.py", 1, 1), fix="")], ROOT).split("\n")
    assert first == (
        f"::warning file=a folder/ünï.py,line=3,col=5,title=semel%3A {LINTS[0]}"
        f"::50%25 is%0Alost: a, b%0A%0AWrite:%0Aonce(…)"
    )
    assert "file=/else%2C where%3A/c.py," in second
    assert second.endswith("::50%25 is%0Alost: a, b")
