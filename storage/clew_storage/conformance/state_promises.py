"""States: what the changes on a line make of it, byte for byte and in order."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import pytest

from clew_storage.conformance.categories import Promises
from clew_storage.conformance.examples import (
    KEY,
    NOW,
    OTHER,
    a_grant,
    a_line,
    a_thread,
    a_write,
    fork,
    grow,
)
from clew_storage.port import Backend
from clew_storage.records import Grant, InfoChange, StateChange


async def write(backend: Backend, grant: Grant, version: int, change: StateChange) -> None:
    """A write that changes the state."""
    await backend.threads.append(a_write(grant, version, state=change))


async def state_of(backend: Backend, version: int | None = None) -> dict[str, bytes] | None:
    """The state of the example's thread."""
    return await backend.threads.get_state(KEY, version=version)


def grown(*versions: int) -> dict[str, bytes]:
    """The state that `grow` makes."""
    return {"last": b"%d" % versions[-1], "all": b"[" + b",".join(b"%d" % version for version in versions) + b"]"}


class StatePromises(Promises):
    """`Threads.get_state` and `StateChange`."""

    async def test_a_thread_whose_state_was_never_set_has_an_empty_one(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant))
        assert await state_of(backend) == {}
        assert await state_of(backend, 1) == {}

    async def test_there_is_no_state_of_what_is_not_stored(self, backend: Backend) -> None:
        assert await state_of(backend) is None
        await a_line(backend, 2)
        assert await state_of(backend, 3) is None
        assert await state_of(backend, 0) is None

    async def test_a_thread_without_a_checkpoint_has_an_empty_state(self, backend: Backend) -> None:
        await backend.threads.change_info(OTHER, InfoChange(), create=a_thread(), request=None, now_ms=NOW)
        assert await backend.threads.get_state(OTHER, version=None) == {}

    @pytest.mark.parametrize(
        "value",
        [b"9007199254740993", b"1.0", b"-0.0", b'"\\u0000"', b'"\x00"', b" { } ", '"\u2028é😀"'.encode(), b"null"],
    )
    async def test_values_come_back_as_the_bytes_they_were(self, backend: Backend, value: bytes) -> None:
        grant = await a_grant(backend)
        await write(backend, grant, 1, StateChange(replaced={"v": value}))
        assert await state_of(backend) == {"v": value}

    async def test_keys_of_any_text_come_back(self, backend: Backend) -> None:
        keys = ["", "a\x00b", "ключ", "😀", "k" * 5000]
        grant = await a_grant(backend)
        await write(backend, grant, 1, StateChange(replaced=dict.fromkeys(keys, b"1")))
        assert list(await state_of(backend) or ()) == keys

    async def test_keys_keep_the_order_of_their_first_write(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await write(backend, grant, 1, StateChange(replaced={"b": b"1", "a": b"1"}))
        await write(backend, grant, 2, StateChange(replaced={"c": b"1", "a": b"2"}))
        assert await state_of(backend) == {"b": b"1", "a": b"2", "c": b"1"}
        assert list(await state_of(backend) or ()) == ["b", "a", "c"]

    async def test_a_removed_key_that_comes_back_comes_last(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await write(backend, grant, 1, StateChange(replaced={"a": b"1", "b": b"1"}))
        await write(backend, grant, 2, StateChange(removed=("a",)))
        assert await state_of(backend) == {"b": b"1"}
        await write(backend, grant, 3, StateChange(replaced={"a": b"3"}))
        await write(backend, grant, 4, StateChange(removed=("b",), replaced={"b": b"4"}))
        assert list((await state_of(backend) or {}).items()) == [("a", b"3"), ("b", b"4")]

    async def test_removing_comes_before_replacing_and_that_before_appending(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await write(backend, grant, 1, StateChange(replaced={"l": b"[1]", "m": b"[1]"}))
        both = StateChange(removed=("l", "m"), replaced={"l": b"[2]"}, appended={"l": (b"3",), "m": (b"4",)})
        await write(backend, grant, 2, both)
        assert await state_of(backend) == {"l": b"[2,3]", "m": b"[4]"}

    async def test_elements_are_spliced_into_the_bytes_as_they_were(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await write(backend, grant, 1, StateChange(replaced={"l": b" [ 1.0, 2 ] ", "e": b"[ ]"}))
        await write(backend, grant, 2, StateChange(appended={"l": (b"3.50", b'"]"'), "e": (b"1",), "new": (b"[]",)}))
        await write(backend, grant, 3, StateChange(appended={"l": (b"4",), "none": ()}))
        assert await state_of(backend) == {
            "l": b' [ 1.0, 2 ,3.50,"]",4] ',
            "e": b"[ 1]",
            "new": b"[[]]",
            "none": b"[]",
        }

    async def test_what_is_no_array_counts_as_an_empty_one(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await write(backend, grant, 1, StateChange(replaced={"v": b'"[text"'}))
        await write(backend, grant, 2, StateChange(appended={"v": (b"1",)}))
        assert await state_of(backend) == {"v": b"[1]"}

    async def test_removing_what_is_not_there_does_nothing(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await write(backend, grant, 1, StateChange(removed=("x",), replaced={"a": b"1"}))
        assert await state_of(backend) == {"a": b"1"}

    async def test_the_state_of_every_version_can_be_read(self, backend: Backend) -> None:
        await a_line(backend, 100)
        assert await state_of(backend) == grown(*range(1, 101))
        for version in (1, 7, 8, 9, 63, 64, 65, 99, 100):
            assert await state_of(backend, version) == grown(*range(1, version + 1))

    async def test_after_a_rewind_the_state_is_that_of_its_line_alone(self, backend: Backend) -> None:
        grant = await a_line(backend, 20)
        await fork(backend, grant, 21, 5)
        assert await state_of(backend) == grown(*range(1, 6))
        await grow(backend, grant, range(22, 45))
        assert await state_of(backend) == grown(*range(1, 6), *range(22, 45))
        assert await state_of(backend, 20) == grown(*range(1, 21))
        assert await state_of(backend, 30) == grown(*range(1, 6), *range(22, 31))
        await fork(backend, grant, 45, 18)
        assert await state_of(backend) == grown(*range(1, 19))
        assert await state_of(backend, 44) == grown(*range(1, 6), *range(22, 45))

    async def test_a_fork_can_change_the_state_that_it_takes_up(self, backend: Backend) -> None:
        grant = await a_line(backend, 12)
        await fork(backend, grant, 13, 3, state=StateChange(replaced={"new": b"1"}, removed=("last",)))
        assert await state_of(backend) == {"all": b"[1,2,3]", "new": b"1"}

    async def test_a_rewind_to_before_the_first_change_leaves_an_empty_state(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant))
        await grow(backend, grant, range(2, 12))
        await fork(backend, grant, 12, 1)
        assert await state_of(backend) == {}
        await grow(backend, grant, range(13, 15))
        assert await state_of(backend) == grown(13, 14)

    async def test_large_values_that_are_replaced_at_every_step_are_read_as_they_are(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        for version in range(1, 40):
            big = b'"' + b"%d" % version * 3000 + b'"'
            await write(backend, grant, version, StateChange(replaced={"big": big, "n": b"%d" % version}))
        assert await state_of(backend) == {"big": b'"' + b"39" * 3000 + b'"', "n": b"39"}
        assert await state_of(backend, 17) == {"big": b'"' + b"17" * 3000 + b'"', "n": b"17"}

    async def test_what_is_returned_belongs_to_the_caller(self, backend: Backend) -> None:
        await a_line(backend, 3)
        first = await state_of(backend)
        assert first is not None
        first.clear()
        assert await state_of(backend) == grown(1, 2, 3)
