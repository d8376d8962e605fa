"""A growing state is what applying its changes one by one makes, byte for byte, and no later change shows in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clew_engine.growing_state import GrowingState
from clew_engine.json_text import join_object
from clew_storage import StateChange
from clew_storage.state_changes import apply

KEYS = st.sampled_from("abc")
VALUES = st.sampled_from([b"1", b"null", b"[]", b"[ ]", b' [1, "]" ] ', b'{"a":[1]}', b'["["]'])
ELEMENTS = st.lists(st.sampled_from([b"1", b'"]"', b"[2]", b"{}"]), max_size=3).map(tuple)
CHANGES = st.builds(
    StateChange,
    replaced=st.dictionaries(KEYS, VALUES, max_size=2),
    appended=st.dictionaries(KEYS, ELEMENTS, max_size=2),
    removed=st.lists(KEYS, max_size=1).map(tuple),
)


@given(st.dictionaries(KEYS, VALUES), st.lists(st.tuples(CHANGES, st.booleans()), max_size=12))
def test_it_is_what_its_changes_make_of_it(values: dict[str, bytes], changes: list[tuple[StateChange, bool]]) -> None:
    plain, growing = dict(values), GrowingState(values)
    made = [(plain, growing)]
    for change, read in changes:
        # A change that was thought of and not made leaves no trace.
        growing.after(StateChange(appended={"a": (b'"other"',)}))
        plain, growing = apply(plain, change), growing.after(change)
        made.append((plain, growing))
        if read:
            assert dict(growing) == plain
    for expected, found in made:
        assert list(found.items()) == list(expected.items())
        assert len(found) == len(expected)
        assert found.size >= len(join_object(expected))
