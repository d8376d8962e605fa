"""What the tests can be told by the environment is on the page that says how it is tested."""

from __future__ import annotations

import re

from tests.docs.snippets import ROOT


def test_every_variable_that_the_tests_read_is_on_the_page() -> None:
    support = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests/support").glob("*.py"))
    read = set(re.findall(r'"(CLEW_TEST_[A-Z_]+)"', support))
    told = set(re.findall(r"`(CLEW_TEST_[A-Z_]+)=", (ROOT / "docs/guarantees.md").read_text(encoding="utf-8")))
    assert read == told != set()
