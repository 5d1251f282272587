"""Files of a release: one version, a valid citation file, workflows and templates that are complete."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import harness
from tests.docs.guides import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = [GITHUB / "ISSUE_TEMPLATE" / name for name in ("bug.yml", "feature.yml")]
CITATION_KEYS = {
    *("abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi", "identifiers", "keywords"),
    *("license", "license-url", "message", "preferred-citation", "references", "repository", "repository-artifact"),
    *("repository-code", "title", "type", "url", "version"),
}
"""Keys of the schema 1.2.0 of the Citation File Format."""


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def jobs_of(workflow: Path) -> dict[str, Any]:
    """Return the jobs of a workflow."""
    jobs = read_yaml(workflow)["jobs"]
    assert isinstance(jobs, dict)
    return jobs


def test_the_version_is_the_same_everywhere() -> None:
    """Package, build and citation have one version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == harness.__version__
    assert read_yaml(ROOT / "CITATION.cff")["version"] == harness.__version__


def test_the_citation_file_is_valid() -> None:
    """It has the required keys of its schema, no unknown ones, and the project's title and licence."""
    citation = read_yaml(ROOT / "CITATION.cff")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert {"message", "title", "authors"} <= set(citation) <= CITATION_KEYS
    assert all(author.get("name") or author.get("family-names") for author in citation["authors"])
    assert (citation["title"], citation["license"]) == (project["name"], project["license"])


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_complete(workflow: Path) -> None:
    """Each job has a limit of time and known predecessors; each action has a version; reading is the usual right."""
    assert read_yaml(workflow)["permissions"] == {"contents": "read"}
    jobs = jobs_of(workflow)
    for job in jobs.values():
        assert job["timeout-minutes"] <= 60
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(jobs)
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert re.search(r"@[\w./-]+$", step.get("uses", "action@v1"))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_the_files_that_a_workflow_runs_exist(workflow: Path) -> None:
    """A script that is named is there; `test_named_commands` checks the targets of make."""
    for job in jobs_of(workflow).values():
        for step in job["steps"]:
            for script in re.findall(r"\bbash (\S+)", step.get("run", "")):
                assert (ROOT / script).is_file(), script


def test_only_the_last_job_of_a_release_may_write() -> None:
    """Publishing waits for the other jobs, and for a person."""
    jobs = jobs_of(GITHUB / "workflows" / "release.yml")
    publish = jobs.pop("publish")
    assert set(publish["needs"]) == set(jobs)
    assert publish["environment"] == "pypi"
    assert publish["permissions"]["id-token"] == "write"
    assert not [job for job in jobs.values() if "permissions" in job]
    assert "secrets." not in (GITHUB / "workflows" / "release.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.name)
def test_an_issue_form_is_valid(form: Path) -> None:
    """GitHub ignores a form with an unknown field type, a field without a label, or two fields with one id."""
    content = read_yaml(form)
    assert content["name"]
    assert content["description"]
    fields = [field for field in content["body"] if field["type"] != "markdown"]
    assert all(field["type"] in {"textarea", "input", "dropdown", "checkboxes"} for field in fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert len({field["id"] for field in fields}) == len(fields) > 0


@pytest.mark.parametrize("name", ["SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "RELEASING.md"])
def test_the_files_that_people_look_for_are_there(name: str) -> None:
    """Each has a title and a text."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert len(text) > 500
