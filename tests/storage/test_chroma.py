"""The vector index finds its vectors; damage to its files always raises one kind of error and never crashes."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import HarnessError, IndexUnavailable
from harness.ports import Vectors
from harness.storage import chroma, chroma_process
from harness.storage.chroma import ChromaIndex
from harness.storage.vector_projection import INDEXED_DIMENSIONS, projection

pytestmark = pytest.mark.slow

NAME = "searches_vec-1"
WIDTH = 8
COUNT = 300


def vectors(count: int, *, width: int = WIDTH, seed: int = 1) -> Vectors:
    """Return random unit vectors, shape (count, width)."""
    drawn = np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32)
    unit: Vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return unit


def keys(count: int) -> list[str]:
    """Return the keys: `k0`, `k1` and so on."""
    return [f"k{number}" for number in range(count)]


def add(index: ChromaIndex, name: str, keys: list[str], vectors: Vectors) -> None:
    """Add one batch."""
    index.add_batches(name, [(keys, vectors)])


def names(folder: Path) -> list[str]:
    """Return the names of the collections."""
    return sorted(path.parent.name for path in folder.glob("*/manifest.json"))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an index with `COUNT` vectors (`k0`, `k1`, …) that is only ever copied."""
    folder = tmp_path_factory.mktemp("original") / "index"
    index = ChromaIndex(folder)
    index.create(NAME, embedder="fake", dimension=WIDTH)
    add(index, NAME, keys(COUNT), vectors(COUNT))
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """Return the folder of a filled index that is not open."""
    return Path(shutil.copytree(original, tmp_path / "index"))


@pytest.fixture
def index(folder: Path) -> Iterator[ChromaIndex]:
    """Return a filled index."""
    index = ChromaIndex(folder)
    yield index
    index.close()


@pytest.fixture
def new(tmp_path: Path) -> Iterator[ChromaIndex]:
    """Return an index in a folder that is not there yet."""
    index = ChromaIndex(tmp_path / "not" / "yet" / "there")
    yield index
    index.close()


def by_hand(near: Vectors, k: int) -> list[str]:
    """Return the keys that are nearest in the filled index."""
    return [f"k{place}" for place in np.argsort(-(vectors(COUNT) @ near))[:k]]


def elsewhere(program: str, *arguments: object, status: int = 0) -> str:
    """Run a program in another process with an empty standard error; return its output."""
    start = "import sys\nfrom pathlib import Path\nimport numpy as np\nfrom tests.storage.test_chroma import *\n"
    start += "folder = Path(sys.argv[1])\nindex = ChromaIndex(folder)\n"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", start + program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (status, "")
    return done.stdout


# What it is for ------------------------------------------------------------------------------------------------------


def test_keys_come_nearest_first(index: ChromaIndex) -> None:
    """The keys are those that comparing with every vector finds, in that order."""
    for asked in vectors(20, seed=2):
        assert index.nearest(NAME, asked, 8) == by_hand(asked, 8)


def test_a_small_collection_returns_all_its_keys(new: ChromaIndex) -> None:
    """Asked for more keys than there are, it returns all; asked for none, or while it is empty, none."""
    new.create(NAME, embedder="fake", dimension=WIDTH)
    assert new.nearest(NAME, vectors(1)[0], 8) == []
    add(new, NAME, keys(3), vectors(3))
    assert new.nearest(NAME, vectors(3)[1], 8)[0] == "k1"
    assert sorted(new.nearest(NAME, vectors(1)[0], 100)) == keys(3)
    assert new.nearest(NAME, vectors(1)[0], 0) == []


def test_adding_a_key_again_replaces_its_vector(index: ChromaIndex) -> None:
    """The key is found by its new vector only, and counts once; of two in one call the last is kept."""
    fresh = vectors(2, seed=3)
    add(index, NAME, ["k7", "k7"], fresh)
    assert index.nearest(NAME, fresh[1], 1) == ["k7"]
    assert "k7" not in index.nearest(NAME, vectors(COUNT)[7], 3)
    assert index.count(NAME) == COUNT


def test_adding_the_same_again_changes_nothing(index: ChromaIndex) -> None:
    """After an interrupted rebuild, the caller may restart from any row."""
    add(index, NAME, keys(50), vectors(COUNT)[:50])
    assert index.count(NAME) == COUNT
    assert index.nearest(NAME, vectors(COUNT)[3], 8) == by_hand(vectors(COUNT)[3], 8)


def test_batches_are_added_as_one(index: ChromaIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of any size, empty ones too, end up in the collection together."""
    monkeypatch.setattr(chroma_process, "BATCH", 7)
    more = vectors(40, seed=4)
    index.add_batches(
        NAME, ((keys(COUNT + 40)[COUNT + a : COUNT + b], more[a:b]) for a, b in [(0, 9), (9, 9), (9, 40)])
    )
    assert index.count(NAME) == COUNT + 40
    assert index.nearest(NAME, more[39], 1) == [f"k{COUNT + 39}"]


def test_adding_nothing_is_fine(index: ChromaIndex) -> None:
    """No batch, or one without keys, leaves the collection as it is."""
    before = index.nearest(NAME, vectors(1)[0], 5)
    add(index, NAME, [], vectors(0))
    index.add_batches(NAME, [])
    assert index.count(NAME) == COUNT
    assert index.nearest(NAME, vectors(1)[0], 5) == before


def test_an_error_among_the_batches_passes_through(index: ChromaIndex) -> None:
    """An error from reading the rows is raised unchanged, and nothing of the batches before it is added."""

    def batches() -> Iterator[tuple[list[str], Vectors]]:
        yield ["one"], vectors(1)
        raise HarnessError("the rows cannot be read")

    with pytest.raises(HarnessError, match="the rows cannot be read") as raised:
        index.add_batches(NAME, batches())
    assert type(raised.value) is HarnessError
    assert index.count(NAME) == COUNT


def test_every_created_collection_has_its_own_generation(index: ChromaIndex) -> None:
    """It stays the same while vectors are added; a recreated collection has another one, and is empty."""
    before = index.generation(NAME)
    add(index, NAME, ["one"], vectors(1))
    assert index.generation(NAME) == before
    after = index.create(NAME, embedder="fake", dimension=4)
    assert index.generation(NAME) == after != before
    assert index.count(NAME) == 0
    assert index.nearest(NAME, vectors(1, width=4)[0], 5) == []


def test_collections_are_separate(index: ChromaIndex, folder: Path) -> None:
    """Each has its own keys and dimension; dropping one leaves the other, frees its files, and may be repeated."""
    index.create("other", embedder="fake", dimension=3)
    add(index, "other", ["here"], vectors(1, width=3))
    assert names(folder) == ["other", NAME]
    assert index.nearest("other", vectors(1, width=3)[0], 5) == ["here"]
    index.drop(NAME)
    index.drop(NAME)
    assert names(folder) == ["other"]
    assert [each.name for each in folder.iterdir()] == ["other"]
    assert index.generation(NAME) is None
    assert index.nearest("other", vectors(1, width=3)[0], 5) == ["here"]


def test_few_collections_stay_loaded(index: ChromaIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many collections searched in turn, each answers, and memory has only the last ones."""
    monkeypatch.setattr(chroma, "MAX_LOADED", 1)
    index.create("other", embedder="fake", dimension=3)
    add(index, "other", ["here"], vectors(1, width=3))
    for _ in range(2):
        assert index.nearest(NAME, vectors(COUNT)[3], 1) == ["k3"]
        assert index.nearest("other", vectors(1, width=3)[0], 1) == ["here"]
        assert list(index._loaded) == ["other"]


def test_a_folder_that_is_not_there_has_no_collections(new: ChromaIndex) -> None:
    """Asking makes no folder."""
    assert new.generation(NAME) is None
    new.drop(NAME)
    new.discard()
    assert not new._folder.parent.exists()


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    """Spaces, letters of any language and characters with a meaning in a URL are allowed."""
    index = ChromaIndex(tmp_path / "my index: 100%25 ä?b#c&d'e")
    index.create(NAME, embedder="fake", dimension=WIDTH)
    for number, vector in enumerate(vectors(2)):  # the second call copies what the first has made
        add(index, NAME, [f"ключ {number}"], vector[None])
    assert index.nearest(NAME, vectors(2)[1], 1) == ["ключ 1"]
    index.close()


# Long vectors --------------------------------------------------------------------------------------------------------


def test_long_vectors_are_found_by_their_neighbours(new: ChromaIndex) -> None:
    """Vectors of 384 dimensions are indexed by fewer; a reworded query (similarity 0.9) still finds its match."""
    stored = vectors(500, width=384)
    new.create(NAME, embedder="fake", dimension=384)
    add(new, NAME, keys(500), stored)
    asked = 0.9 * stored + np.sqrt(1 - 0.9**2) * vectors(500, width=384, seed=2)
    assert all(f"k{number}" in new.nearest(NAME, asked[number], 8) for number in range(0, 500, 10))


def test_long_vectors_are_shortened_alike_in_all_versions() -> None:
    """The projection is that of earlier versions; its columns are orthonormal."""
    fixed = projection(384)
    assert fixed.shape == (384, INDEXED_DIMENSIONS)
    np.testing.assert_allclose(fixed.T @ fixed, np.eye(INDEXED_DIMENSIONS), atol=1e-5)
    np.testing.assert_allclose(fixed[[0, 7, 383], [0, 63, 31]], [-0.0510310, -0.0780784, -0.0497704], atol=1e-6)


# Other processes -----------------------------------------------------------------------------------------------------


def test_vectors_of_another_process_are_found(index: ChromaIndex, folder: Path) -> None:
    """Its keys are found at once; it finds ours, too."""
    fresh = vectors(3, seed=5)
    assert "new" not in index.nearest(NAME, fresh[0], 1)
    elsewhere("add(index, NAME, ['new'], vectors(3, seed=5)[:1])", folder)
    assert index.nearest(NAME, fresh[0], 1) == ["new"]
    elsewhere("add(index, NAME, ['newer'], vectors(3, seed=5)[1:2])", folder)
    assert index.nearest(NAME, fresh[1], 1) == ["newer"]
    add(index, NAME, ["ours"], fresh[2:])
    printed = elsewhere("print(*(index.nearest(NAME, each, 1)[0] for each in vectors(3, seed=5)))", folder)
    assert printed.split() == ["new", "newer", "ours"]
    assert index.count(NAME) == COUNT + 3


def test_another_process_may_recreate_the_collection(index: ChromaIndex, folder: Path) -> None:
    """The new generation is seen, and no old vector is found."""
    index.nearest(NAME, vectors(1)[0], 1)
    generation = elsewhere("print(index.create(NAME, embedder='fake', dimension=WIDTH))", folder).strip()
    assert index.generation(NAME) == generation
    assert index.nearest(NAME, vectors(1)[0], 1) == []


def test_a_killed_writer_leaves_the_collection_unchanged(index: ChromaIndex, folder: Path) -> None:
    """Killed between two batches, it has added nothing; the next `add` removes its leftovers."""
    program = """
import os, signal
def batches():
    yield ['one'], vectors(1)
    os.kill(os.getpid(), signal.SIGKILL)
index.add_batches(NAME, batches())
"""
    elsewhere(program, folder, status=-9)
    assert len(list((folder / NAME).iterdir())) == 3
    assert index.count(NAME) == COUNT
    assert index.nearest(NAME, vectors(1)[0], 5) == by_hand(vectors(1)[0], 5)
    add(index, NAME, ["two"], vectors(1))
    assert len(list((folder / NAME).iterdir())) == 2


def test_a_writer_that_fails_gives_the_reason(index: ChromaIndex, folder: Path) -> None:
    """If ChromaDB refuses a key, the error has its reason, the collection is unchanged, no file is left."""
    with pytest.raises(IndexUnavailable, match="Empty ID"):
        add(index, NAME, ["fine", ""], vectors(2))
    assert index.count(NAME) == COUNT
    assert len(list((folder / NAME).iterdir())) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_searches_and_ends(folder: Path) -> None:
    """A child opens the index for itself, though its parent had it open, and both end."""
    program = """
import os
index.nearest(NAME, vectors(1)[0], 1)
child = os.fork()
print(index.nearest(NAME, vectors(COUNT)[4], 1), flush=True)
if child:
    print(os.waitpid(child, 0)[1])
sys.exit()
"""
    assert elsewhere(program, folder).split() == ["['k4']", "['k4']", "0"]


def test_threads_search_while_one_adds(index: ChromaIndex) -> None:
    """Every search finds its key, before, during and after other additions."""
    stored = vectors(COUNT)
    failed: list[int] = []
    stop = threading.Event()

    def search(first: int) -> None:
        while not stop.is_set():
            asked = range(first, COUNT, 50)
            failed.extend(number for number in asked if index.nearest(NAME, stored[number], 1) != [f"k{number}"])

    threads = [threading.Thread(target=search, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for number in range(3):
        add(index, NAME, [f"more{number}"], vectors(3, seed=6)[number : number + 1])
    stop.set()
    for thread in threads:
        thread.join()
    assert not failed
    assert index.count(NAME) == COUNT + 3


# Damage --------------------------------------------------------------------------------------------------------------


def noise(file: Path) -> None:
    """Overwrite a file with random bytes."""
    file.write_bytes(np.random.default_rng(1).bytes(file.stat().st_size))


def later_half(file: Path) -> None:
    """Overwrite the later half of a file with random bytes."""
    half = file.stat().st_size // 2
    file.write_bytes(file.read_bytes()[:half] + np.random.default_rng(1).bytes(half))


def cut(file: Path) -> None:
    """Cut a file to half its size."""
    os.truncate(file, file.stat().st_size // 2)


DAMAGES: list[Callable[[Path], None]] = [noise, later_half, cut, Path.unlink]


def files_of(folder: Path) -> list[str]:
    """Return the paths of all files, relative to the folder."""
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def assert_right_or_unavailable(index: ChromaIndex) -> None:
    """Check that answers are right or `IndexUnavailable`, and that a recreated collection works."""
    for number in (3, 33):
        with suppress(IndexUnavailable):
            assert index.nearest(NAME, vectors(COUNT)[number], 4) == by_hand(vectors(COUNT)[number], 4)
    for ask in (index.generation, index.count, lambda name: add(index, name, ["one"], vectors(1))):
        with suppress(IndexUnavailable):
            ask(NAME)
    assert_recreated(index)


def assert_recreated(index: ChromaIndex) -> None:
    """Check that the collection can be created and used again, in this process."""
    generation = index.create(NAME, embedder="fake", dimension=WIDTH)
    add(index, NAME, keys(5), vectors(5))
    assert index.generation(NAME) == generation
    assert index.nearest(NAME, vectors(5)[2], 1) == ["k2"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_survived_by_a_running_process(
    index: ChromaIndex, folder: Path, damage: Callable[[Path], None]
) -> None:
    """All files at once, while the index is open: right or unavailable; `discard` and `create` restore it."""
    index.nearest(NAME, vectors(1)[0], 1)
    for file in files_of(folder):
        damage(folder / file)
    with pytest.raises(IndexUnavailable):
        index.count(NAME)
    with pytest.raises(IndexUnavailable):
        index.nearest(NAME, vectors(1)[0], 1)
    index.discard()
    assert not folder.exists()
    assert_recreated(index)


def test_any_damaged_file_is_survived_by_a_fresh_process(folder: Path, tmp_path: Path) -> None:
    """Any one of them, damaged in any way before it is opened: no crash, no hang, no output on the terminal."""
    program = """
for file in files_of(folder):
    for damage in DAMAGES:
        copy = Path(sys.argv[2]) / file.replace('/', '-') / damage.__name__
        shutil.copytree(folder, copy)
        damage(copy / file)
        index = ChromaIndex(copy)
        try:
            found = index.nearest(NAME, vectors(COUNT)[3], 4)
            assert found == by_hand(vectors(COUNT)[3], 4)
        except IndexUnavailable as error:
            assert "\\n" not in str(error)
        else:
            assert "sqlite" in file, (file, damage)
        index.close()
"""
    assert elsewhere(program, folder, tmp_path / "copies") == ""


@pytest.mark.parametrize("pattern", ["manifest.json", "*.sqlite3", "data_level0.bin"])
def test_a_fresh_process_recreates_the_collection_after_damage(folder: Path, pattern: str) -> None:
    """With one kind of file damaged, it answers correctly or not at all, and can create the collection."""
    for file in folder.rglob(pattern):
        noise(file)
    assert elsewhere("assert_right_or_unavailable(index)", folder) == ""


def test_a_deleted_folder_is_survived_by_a_running_process(index: ChromaIndex, folder: Path) -> None:
    """Its collections are gone, and `create` works, after `discard` or without it."""
    index.nearest(NAME, vectors(1)[0], 1)
    for discard in (True, False):
        shutil.rmtree(folder)
        assert index.generation(NAME) is None
        with pytest.raises(IndexUnavailable, match="no collection"):
            index.nearest(NAME, vectors(1)[0], 1)
        if discard:
            index.discard()
        assert_recreated(index)


def test_files_deleted_under_a_running_process_are_missed_when_needed(index: ChromaIndex, folder: Path) -> None:
    """Loaded before, it is searched as before, or is unavailable; loaded afterwards, it is unavailable."""
    index.nearest(NAME, vectors(1)[0], 1)
    for snapshot in (folder / NAME).glob("*/"):
        shutil.rmtree(snapshot)
    with suppress(IndexUnavailable):  # ChromaDB's pool may open another connection to its database at any time
        assert index.nearest(NAME, vectors(COUNT)[8], 4) == by_hand(vectors(COUNT)[8], 4)
    index.close()
    with pytest.raises(IndexUnavailable, match=str(folder)):
        index.nearest(NAME, vectors(1)[0], 1)
    with pytest.raises(IndexUnavailable):
        add(index, NAME, ["one"], vectors(1))
    assert_recreated(index)


def test_a_file_in_the_place_of_the_folder_is_replaced(tmp_path: Path) -> None:
    """Every call raises `IndexUnavailable`; `discard` removes the file."""
    place = tmp_path / "index"
    place.write_text("no folder")
    index = ChromaIndex(place)
    asks: list[Callable[[], Any]] = [
        lambda: index.generation(NAME),
        lambda: index.count(NAME),
        lambda: index.drop(NAME),
        lambda: index.nearest(NAME, vectors(1)[0], 1),
        lambda: index.create(NAME, embedder="fake", dimension=WIDTH),
        lambda: add(index, NAME, ["one"], vectors(1)),
    ]
    for ask in asks:
        with pytest.raises(IndexUnavailable, match=str(place)):
            ask()
    index.discard()
    assert_recreated(index)


def test_a_folder_that_cannot_be_removed_is_moved_aside(
    index: ChromaIndex, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a new one can be made in its place."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("someone has it open")

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", refuse)
        index.discard()
    assert not folder.exists()
    assert len(list(folder.parent.glob("index.discarded-*"))) == 1
    assert_recreated(index)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no such permissions")
def test_a_folder_that_may_not_be_written_is_unavailable(folder: Path) -> None:
    """Making, adding and discarding raise an error that names the folder; nothing is changed."""
    program = """
import os, tempfile
index.nearest(NAME, vectors(1)[0], 1)  # all is imported while this process may read everything
with tempfile.TemporaryDirectory() as base:
    place = Path(base) / "index"
    shutil.copytree(folder, place)
    for each in [Path(base), place, *place.rglob('*')]:
        each.chmod(0o555 if each.is_dir() else 0o444)
    before = files_of(place)
    child = os.fork()
    if not child:
        if os.geteuid() == 0:
            os.setuid(65_534)  # root may write whatever the mode says
        index = ChromaIndex(place)
        for ask in (
            lambda: index.create(NAME, embedder='fake', dimension=WIDTH),
            lambda: index.create('other', embedder='fake', dimension=WIDTH),
            lambda: add(index, NAME, ['one'], vectors(1)),
            lambda: index.nearest(NAME, vectors(1)[0], 1),
            index.discard,
        ):
            try:
                print(ask())
            except IndexUnavailable as error:
                print(type(error).__name__, str(place) in str(error), flush=True)
        assert index.count(NAME) == COUNT
        os._exit(0)
    print(os.waitpid(child, 0)[1])
    assert files_of(place) == before
    for each in [Path(base), place, *place.rglob('*')]:
        each.chmod(0o755)
"""
    assert elsewhere(program, folder).split() == ["IndexUnavailable", "True"] * 5 + ["0"]


def test_another_versions_folder_is_unavailable(index: ChromaIndex, folder: Path) -> None:
    """A manifest of another format is not read as this version's."""
    manifest = folder / NAME / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"format":1', b'"format":99'))
    with pytest.raises(IndexUnavailable, match="another version"):
        index.generation(NAME)
    assert_recreated(index)


# Other errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["chromadb", "chromadb_rust_bindings"])
def test_without_chromadb_it_is_unavailable(folder: Path, missing: str) -> None:
    """The error says what to install. Reading the manifest needs no ChromaDB."""
    program = """
sys.modules[sys.argv[2]] = None
print(index.count(NAME))
for ask in (
    lambda: index.nearest(NAME, vectors(1)[0], 1), lambda: index.create('other', embedder='fake', dimension=WIDTH)
):
    try:
        ask()
    except IndexUnavailable as error:
        print('ChromaDB is not installed' in str(error) and "pip install 'research-harness[index]'" in str(error))
print(names(folder))
"""
    assert elsewhere(program, folder, missing).splitlines() == [str(COUNT), "True", "True", f"['{NAME}']"]


def test_a_failed_import_of_another_thread_is_unavailable(folder: Path) -> None:
    """A waiting thread gets an empty module; with that it must not create a collection."""
    program = """
sys.modules['chromadb_rust_bindings'] = type(sys)('chromadb_rust_bindings')
before = index.generation(NAME)
try:
    index.create(NAME, embedder='fake', dimension=WIDTH)
except IndexUnavailable as error:
    print('ChromaDB is not installed' in str(error), index.generation(NAME) == before)
"""
    assert elsewhere(program, folder) == "True True\n"


def test_a_damaged_file_is_found_if_chromadb_cannot_raise(folder: Path, tmp_path: Path) -> None:
    """Its Python client, which defines its errors, cannot be imported next to a `.env` that it cannot parse."""
    (tmp_path / ".env").write_text("MIGRATIONS=mine")
    for file in folder.rglob("*.sqlite3"):
        later_half(file)
    program = f"""
import os
os.chdir({str(tmp_path)!r})
try:
    index.nearest(NAME, vectors(1)[0], 1)
except IndexUnavailable:
    print("unavailable")
"""
    assert elsewhere(program, folder) == "unavailable\n"


def test_nothing_is_imported_before_it_is_needed(folder: Path) -> None:
    """Creating an index needs neither ChromaDB nor NumPy; searching needs no Python client of ChromaDB."""
    program = f"""
import sys
from pathlib import Path
from harness.storage.chroma import ChromaIndex
index = ChromaIndex(Path(sys.argv[1]))
index.generation({NAME!r})
assert not {{'chromadb', 'chromadb_rust_bindings', 'numpy'}} & set(sys.modules)
import numpy as np
index.nearest({NAME!r}, np.ones(8, np.float32), 1)
assert 'chromadb' not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program, folder], check=True, timeout=60)


def test_a_collection_that_is_not_there_is_unavailable(index: ChromaIndex) -> None:
    """Only `create` makes one."""
    with pytest.raises(IndexUnavailable, match="no collection other"):
        index.count("other")
    with pytest.raises(IndexUnavailable, match="no collection other"):
        index.nearest("other", vectors(1)[0], 1)
    with pytest.raises(IndexUnavailable, match="no collection other"):
        add(index, "other", ["one"], vectors(1))


@pytest.mark.parametrize("name", ["", "ab", "../outside", ".hidden", "a/b", "two words", "x" * 129])
def test_an_invalid_name_is_refused(index: ChromaIndex, name: str) -> None:
    """No name reaches anything outside the folder."""
    with pytest.raises(IndexUnavailable, match="not a collection's name"):
        index.drop(name)
    with pytest.raises(IndexUnavailable, match="not a collection's name"):
        index.create(name, embedder="fake", dimension=WIDTH)


def test_vectors_that_do_not_fit_are_refused(index: ChromaIndex) -> None:
    """With another dimension, or not one for each key: the error has both numbers, and nothing is added."""
    with pytest.raises(IndexUnavailable, match=r"\(2, 5\) do not fit a collection of 8"):
        add(index, NAME, ["a", "b"], vectors(2, width=5))
    with pytest.raises(IndexUnavailable, match=r"\(1, 5\) do not fit a collection of 8"):
        index.nearest(NAME, vectors(1, width=5)[0], 1)
    with pytest.raises(IndexUnavailable, match="2 keys were given for 3 vectors"):
        add(index, NAME, ["a", "b"], vectors(3))
    assert index.count(NAME) == COUNT


class PanicException(BaseException):
    """Panic of a library written in Rust: its type cannot be imported."""


def test_a_panic_is_unavailable(index: ChromaIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although it is not an `Exception`."""
    monkeypatch.setattr(chroma, "opened", _raising(PanicException("range end index 3\nout of range")))
    with pytest.raises(IndexUnavailable, match="range end index 3 out of range"):
        index.nearest(NAME, vectors(1)[0], 1)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_passes_through(
    index: ChromaIndex, monkeypatch: pytest.MonkeyPatch, interruption: type[BaseException]
) -> None:
    """Ctrl-C is no failure of the index, which stays usable."""
    with monkeypatch.context() as patch:
        patch.setattr(chroma, "opened", _raising(interruption()))
        with pytest.raises(interruption):
            index.nearest(NAME, vectors(1)[0], 1)
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", _raising(interruption()))
        with pytest.raises(interruption):
            add(index, NAME, ["one"], vectors(1))
    assert index.nearest(NAME, vectors(COUNT)[1], 1) == ["k1"]
    add(index, NAME, ["one"], vectors(1))
    assert index.count(NAME) == COUNT + 1


def _raising(error: BaseException) -> Callable[..., Any]:
    def raise_it(*_: object, **__: object) -> None:
        raise error

    return raise_it
