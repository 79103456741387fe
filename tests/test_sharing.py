"""Which tests of a divided run one worker gets together."""

from tests.sharing import shares


def parts(*nodeids: str) -> list[list[str]]:
    """The tests of each share, in the order of the shares."""
    found: dict[str, list[str]] = {}
    for nodeid, share in shares(list(nodeids)).items():
        found.setdefault(share, []).append(nodeid)
    return list(found.values())


def test_the_tests_of_a_file_come_together() -> None:
    first = ["tests/a/test_one.py::test_x[1]", "tests/a/test_one.py::TestY::test_z"]
    second = ["tests/b/test_one.py::test_x[1]"]
    assert parts(*first, *second) == [first, second]


def test_what_commits_comes_apart_from_what_rolls_back() -> None:
    rolled_back = ["tests/a/test_one.py::test_reads"]
    other = ["tests/b/test_two.py::test_reads"]
    committed = ["tests/a/test_one.py::test_commits"]
    assert parts(*rolled_back, *other, *committed) == [rolled_back, other, committed]


def test_the_files_that_share_a_running_demo_come_together() -> None:
    users = [
        "tests/clients/test_python.py::test_x",
        "tests/clients/test_snippets.py::test_x",
        "tests/browser/test_main_job.py::test_x",
    ]
    other = "tests/browser/test_links.py::test_x"
    assert parts(*users, other) == [users, [other]]


def test_the_files_that_share_the_server_as_we_ship_it_come_together() -> None:
    users = ["tests/web/test_bodies.py::test_x", "tests/web/test_headers.py::test_x"]
    other = "tests/webhooks/test_races.py::test_x"
    assert parts(*users, other) == [users, [other]]
