"""Archives: what was written comes back, and what was not is refused with its place."""

from __future__ import annotations

import gzip
import hashlib
import io
import tracemalloc
from collections.abc import Callable, Mapping
from contextlib import aclosing, closing
from pathlib import Path
from typing import BinaryIO

import orjson
import pytest

from clew_storage import DataCorrupt, StorageRefused, open_storage
from clew_storage.archives import ArchiveCut, ArchiveReader, ArchiveWriter, OutputFile, open_archive, resume
from clew_storage.conformance.archive_promises import a_rich_thread, exported
from clew_storage.conformance.examples import KEY, OTHER, a_line, a_message, a_write
from clew_storage.records import ThreadKey
from clew_storage.thread_parts import Part

Threads = list[tuple[ThreadKey, list[Part]]]


@pytest.fixture
async def threads() -> Threads:
    """Two threads: one with everything in it, and a short one."""
    backend = open_storage("memory://")
    await backend.open()
    await a_rich_thread(backend)
    await a_line(backend, 2, OTHER)
    found = [(key, await exported(backend, key)) for key in (KEY, OTHER)]
    await backend.close()
    return found


def written(threads: Threads) -> bytes:
    """The archive of these threads."""
    output = io.BytesIO()
    writer = ArchiveWriter(output, {"app": "support"})
    for _, parts in threads:
        for part in parts:
            writer.put(part)
        writer.end_thread()
    writer.end()
    writer.flush()
    return output.getvalue()


def read(archive: bytes | BinaryIO) -> Threads:
    """The threads of an archive."""
    found = []
    for thread in ArchiveReader(io.BytesIO(archive) if isinstance(archive, bytes) else archive, "it"):
        with closing(thread):
            found.append((thread.key, list(thread)))
    return found


def hashed(lines: list[bytes]) -> bytes:
    """An archive of one thread with these lines between its header and its end, and the right hashes."""
    before = b'{"clew_archive":1,"selection":{"app":"support"}}\n' + b"".join(lines)
    of_all = hashlib.sha256(before).hexdigest()
    of_thread = hashlib.sha256(b"".join(lines)).hexdigest()
    before += orjson.dumps({"end": {"parts": len(lines), "sha256": of_thread, "archive_sha256": of_all}}) + b"\n"
    end = {"threads": 1, "sha256": hashlib.sha256(before).hexdigest()}
    return before + orjson.dumps({"end_of_archive": end}) + b"\n"


def blocks(archive: bytes) -> tuple[bytes, list[bytes], bytes]:
    """The header, each thread with its end, and the end of it all."""
    header, *lines, end = archive.splitlines(keepends=True)
    threads = [b""]
    for line in lines:
        threads[-1] += line
        if line.startswith(b'{"end"'):
            threads.append(b"")
    return header, threads[:-1], end


def test_threads_come_back_byte_for_byte(threads: Threads) -> None:
    archive = written(threads)
    assert read(archive) == threads
    assert ArchiveReader(io.BytesIO(archive), "it").selection == {"app": "support"}


def test_a_thread_of_which_a_part_was_read_can_be_read_again(threads: Threads) -> None:
    (_, parts), *_ = threads
    with closing(next(iter(ArchiveReader(io.BytesIO(written(threads)), "it")))) as first:
        assert first.head == parts[0]
        assert list(first) == parts


def test_payloads_that_are_text_can_be_read_in_the_file(threads: Threads) -> None:
    text = written(threads).decode()
    assert r"{\"big\":9007199254740993,\"real\":1.0,\"nul\":\"\\u0000\"}" in text
    assert '{"base64":"/wA="}' in text


def test_the_same_threads_make_the_same_file(threads: Threads, tmp_path: Path) -> None:
    assert written(threads) == written(threads)
    for name in ("one.gz", "two.gz"):
        with closing(OutputFile(tmp_path / name)) as file:
            file.write(written(threads))
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()


def test_a_file_is_for_its_owner_alone_and_never_written_over(tmp_path: Path) -> None:
    OutputFile(tmp_path / "it").close()
    assert (tmp_path / "it").stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        OutputFile(tmp_path / "it")


def test_every_flipped_byte_is_found(threads: Threads) -> None:
    archive = written(threads[1:])
    for place in range(len(archive)):
        flipped = bytearray(archive)
        flipped[place] ^= 1
        with pytest.raises(DataCorrupt, match=r"^it(, line | ends in line )\d+"):
            read(bytes(flipped))


def test_what_is_cut_off_anywhere_is_found(threads: Threads) -> None:
    archive = written(threads[1:])
    for length in range(1, len(archive)):
        with pytest.raises(
            ArchiveCut, match="it was cut off, or its export was stopped; go on with `clew export --resume`"
        ):
            read(archive[:length])


def test_a_file_without_a_beginning_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    with pytest.raises(ArchiveCut, match=r"^it ends before the first line of an archive") as refused:
        read(b"")
    assert "--resume" not in str(refused.value)
    (tmp_path / "it.gz").write_bytes(gzip.compress(b"x" * 99)[:12])
    with closing(open_archive(tmp_path / "it.gz")) as stream, pytest.raises(ArchiveCut, match="before the first line"):
        read(stream)


@pytest.mark.parametrize("name", ["it", "it.gz"])
def test_another_file_of_one_line_without_an_end_is_not_written_over(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    note = gzip.compress(b"milk, bread") if name.endswith(".gz") else b"milk, bread"
    path.write_bytes(note)
    with pytest.raises(DataCorrupt, match="line 1: it is no archive of clew"):
        resume(path, {"app": "support"}, of_any)
    assert path.read_bytes() == note
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_what_cannot_be_decompressed_at_all_is_told_without_a_line(tmp_path: Path) -> None:
    (tmp_path / "it.gz").write_bytes(b"no gzip at all")
    with (
        closing(open_archive(tmp_path / "it.gz")) as stream,
        pytest.raises(DataCorrupt, match=r"^it: it cannot be decompressed") as refused,
    ):
        read(stream)
    assert "line" not in str(refused.value)


def test_a_flip_in_a_compressed_file_is_found(threads: Threads, tmp_path: Path) -> None:
    packed = gzip.compress(written(threads[1:]), mtime=0)
    # The ten bytes before the data say nothing of it.
    for place in range(10, len(packed)):
        path = tmp_path / "it.gz"
        path.write_bytes(packed[:place] + bytes((packed[place] ^ 1,)) + packed[place + 1 :])
        with closing(open_archive(path)) as stream, pytest.raises(DataCorrupt):
            read(stream)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda first, second: (second, first), "thread 'thread-2', lines 2 to 5, or what is before it"),
        (lambda _, second: (second,), "thread 'thread-2', lines 2 to 5, or what is before it"),
        (lambda first, _: (first,), "threads are missing"),
        (lambda first, second: (first, second, second), "thread 'thread-2', lines 27 to 30, or what is before it"),
        (lambda first, second: (first.rsplit(b"\n", 2)[0] + b"\n", second), "has no end"),
    ],
    ids=["reordered", "the first is missing", "the last is missing", "twice", "without its end"],
)
def test_threads_out_of_their_place_are_found(
    threads: Threads, change: Callable[[bytes, bytes], tuple[bytes, ...]], told: str
) -> None:
    header, (first, second), end = blocks(written(threads))
    with pytest.raises(DataCorrupt, match=told):
        read(b"".join((header, *change(first, second), end)))


def test_nothing_may_follow_the_end(threads: Threads) -> None:
    with pytest.raises(DataCorrupt, match="there is more after the end"):
        read(written(threads) + b"\n")


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (b"SQLite format 3\n", "no archive of clew"),
        (b'{"a":1}\n', "no archive of clew"),
        (b"hello", "no archive of clew"),
        (gzip.compress(b"hello", mtime=0), "it is compressed by gzip"),
        (b'{"clew":1}', "no archive of clew"),
        (b'{"clew_archive":2,"selection":{}}\n', "format 2, and this program reads 1; use a newer clew"),
    ],
)
def test_another_file_is_refused_by_its_first_line(header: bytes, told: str) -> None:
    with pytest.raises(DataCorrupt, match=f"^it, line 1: .*{told}"):
        read(header)


def test_what_was_never_a_thread_is_refused_whatever_its_hash(threads: Threads) -> None:
    _, *lines, _, _ = written(threads[1:]).splitlines(keepends=True)
    assert read(hashed(lines)) == threads[1:]
    head, first, second = lines
    wrong = {
        "line 3: it lacks 'request'": [head, b"{}\n", second],
        "line 3: version is to be of the kind int": [head, first.replace(b'"version":1', b'"version":true', 1), second],
        "line 3: 'sleeping' is not a valid Status": [head, first.replace(b'"in_progress"', b'"sleeping"', 1), second],
        "line 4: checkpoint 1 comes after 2": [head, second, first],
        "line 4: the newest checkpoint is not the thread's head": [head, first],
        "line 3: a part of the kind ThreadPart is out of its place|which begins in line 2, has no end": [
            head,
            head,
            first,
            second,
        ],
        "line 2: a thread was due here": [first, second],
    }
    for told, made in wrong.items():
        with pytest.raises(DataCorrupt, match=told):
            read(hashed(made))


def of_any(uids: Mapping[ThreadKey, str]) -> None:
    """Threads of whatever database are gone on with."""


def resumed(path: Path, threads: Threads) -> bytes:
    """What becomes of a file that is gone on with."""
    begun = resume(path, {"app": "support"}, of_any)
    known = [key for key, _ in threads]
    rest = threads[known.index(begun.last.record.key) + 1 :] if begun.last else threads
    if begun.file is not None:
        for _, parts in rest:
            for part in parts:
                begun.writer.put(part)
            begun.writer.end_thread()
        begun.writer.end()
        begun.writer.flush()
        begun.file.close()
    with closing(open_archive(path)) as stream:
        return stream.read()


@pytest.mark.parametrize("name", ["it", "it.gz"])
def test_an_export_goes_on_from_wherever_it_was_stopped(threads: Threads, tmp_path: Path, name: str) -> None:
    archive = written(threads)
    whole = gzip.compress(archive, mtime=0) if name.endswith(".gz") else archive
    path = tmp_path / name
    for length in range(0, len(whole) + 1, 97):
        path.write_bytes(whole[:length])
        assert resumed(path, threads) == archive
    path.write_bytes(whole)
    assert resumed(path, threads) == archive
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_an_export_does_not_go_on_with_what_is_damaged(threads: Threads, tmp_path: Path) -> None:
    path = tmp_path / "it"
    damaged = written(threads)[:-200].replace(b'"n\\u0000ame"', b'"n\\u0000amf"')
    path.write_bytes(damaged)
    with pytest.raises(DataCorrupt, match="thread 'thread-1', lines 2 to"):
        resume(path, {"app": "support"}, of_any)
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("it", damaged)]


def test_an_export_does_not_go_on_with_another_selection(threads: Threads, tmp_path: Path) -> None:
    path = tmp_path / "it"
    path.write_bytes(written(threads)[:-10])
    with pytest.raises(StorageRefused, match="resume it with the same"):
        resume(path, {"app": "other"}, of_any)


@pytest.mark.parametrize("name", ["it", "it.gz"])
def test_an_export_that_goes_on_touches_no_other_file(threads: Threads, tmp_path: Path, name: str) -> None:
    others = {f"{prefix}{name}": b"a user's own" for prefix in ("resumed.", ".", "part.")}
    for other, content in others.items():
        (tmp_path / other).write_bytes(content)
    archive = written(threads)
    (tmp_path / name).write_bytes(b"")
    assert resumed(tmp_path / name, threads) == archive
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir() if each.name != name} == others


def test_an_export_does_not_go_on_with_a_file_that_another_one_writes(threads: Threads, tmp_path: Path) -> None:
    path = tmp_path / "it"
    with closing(OutputFile(path)), pytest.raises(StorageRefused, match="is being written by another export"):
        resume(path, {"app": "support"}, of_any)
    path.write_bytes(written(threads)[:-10])
    first = resume(path, {"app": "support"}, of_any)
    assert first.file is not None
    with closing(first.file), pytest.raises(StorageRefused, match="is being written by another export"):
        resume(path, {"app": "support"}, of_any)
    assert [each.name for each in tmp_path.iterdir()] == ["it"]


async def test_a_large_thread_takes_little_memory(tmp_path: Path) -> None:
    source, target = (open_storage(f"sqlite://{tmp_path}/{name}.db") for name in ("source", "target"))
    await source.open()
    await target.open()
    grant = await a_line(source, 1)
    for version in range(2, 1002):
        body = b'"%s"' % (b"%d" % version * 4000)
        await source.threads.append(a_write(grant, version, messages=(a_message(version, body=body),)))
    tracemalloc.start()
    with closing(OutputFile(tmp_path / "it")) as file:
        writer = ArchiveWriter(file, {})
        async with aclosing(source.archive.export_thread(KEY)) as parts:
            async for part in parts:
                writer.put(part)
                if writer.pending > 1 << 20:
                    writer.flush()
        writer.end_thread()
        writer.end()
        writer.flush()
    with closing(open_archive(tmp_path / "it")) as stream:
        for thread in ArchiveReader(stream, "it"):
            with closing(thread):
                await target.archive.import_thread(thread)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (tmp_path / "it").stat().st_size > 10 << 20
    assert peak < 6 << 20
    assert await exported(target) == await exported(source)
    await source.close()
    await target.close()
