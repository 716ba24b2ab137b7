"""Tables of any common form are read as the same records; the form is told, and can be corrected."""

from __future__ import annotations

import datetime
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riskcore.data.bring.arrange import assemble
from riskcore.data.bring.files import ReadOptions, read_file, unpacked
from riskcore.data.bring.plan import suggest
from riskcore.data.bring.workbook import cell_text
from riskcore.data.problems import DataFormatError
from tests.data.bring.brought import LEFT, text, workbook, write, zipped
from tests.data.folders import write_parquet


def cells(file) -> list[list[str]]:
    assert file.text is not None, file.problems
    columns = [file.text.columns.column(name).to_pylist() for name in file.text.names]
    return [list(file.text.names), *(list(row) for row in zip(*columns, strict=True))]


@pytest.mark.parametrize(
    ("delimiter", "encoding", "words"),
    [
        (",", "utf-8", "csv, comma, UTF-8"),
        (";", "utf-8", "csv, semicolon, UTF-8"),
        ("\t", "utf-8", "csv, tab, UTF-8"),
        ("|", "utf-8", "csv, pipe, UTF-8"),
        (",", "utf-8-sig", "csv, comma, UTF-8 with a byte order mark"),
        (";", "utf-16", "csv, semicolon, UTF-16"),
        ("\t", "utf-16-le", "csv, tab, UTF-16, little endian"),
        (",", "utf-16-be", "csv, comma, UTF-16, big endian"),
        (";", "latin-1", "csv, semicolon, Windows-1252 (Latin-1)"),
        (",", "cp1252", "csv, comma, Windows-1252 (Latin-1)"),
    ],
)
def test_delimiters_and_encodings_are_detected(tmp_path, delimiter, encoding, words):
    file = read_file(write(tmp_path / "any name.csv", LEFT, delimiter, encoding))
    assert (file.form.words, file.problems) == (words, ())
    assert cells(file) == LEFT


def test_cyrillic_is_not_taken_for_latin(tmp_path):
    rows = [["код", "название"], *([f"к{n}", f"кофейная машина номер {n} и мельница"] for n in range(20))]
    file = read_file(write(tmp_path / "x.csv", rows, ";", "cp1251"))
    assert file.form.encoding == "cp1251"
    assert cells(file) == rows


def test_a_wrong_detection_can_be_corrected(tmp_path):
    path = write(tmp_path / "x.csv", [["a", "b;c"], ["1", "2;3"]])
    assert [*cells(read_file(path))[0]] == ["a", "b;c"]
    corrected = read_file(path, ReadOptions(delimiter=";"))
    assert (cells(corrected)[0], corrected.form.delimiter) == (["a,b", "c"], ";")
    euro = write(tmp_path / "y.csv", [["a", "b"], ["1", "5 €"]], encoding="iso8859-15")
    assert cells(read_file(euro, ReadOptions(encoding="iso8859-15")))[1][1] == "5 €"


def test_an_encoding_that_does_not_fit_is_told_with_its_row(tmp_path):
    path = write(tmp_path / "x.csv", [["a", "b"], ["1", "x"], ["2", "Köln"]], encoding="latin-1")
    (problem,) = read_file(path, ReadOptions(encoding="utf-8")).problems
    assert (problem.kind, problem.file, problem.row, problem.column) == ("broken_encoding", "x.csv", 3, "b")
    (unknown,) = read_file(path, ReadOptions(encoding="no-such")).problems
    assert unknown.kind == "unreadable_file"


def test_commas_inside_quotes_do_not_mislead(tmp_path):
    rows = [["id", "names"], *([str(n), "Doe, J., Roe, R., Poe, E."] for n in range(5))]
    assert read_file(write(tmp_path / "x.csv", rows, ";")).form.delimiter == ";"
    assert cells(read_file(write(tmp_path / "x.csv", rows, ","))) == rows


def test_one_column_is_read(tmp_path):
    assert cells(read_file(write(tmp_path / "x.txt", [["name"], ["Ann"], ["Bob"]]))) == [["name"], ["Ann"], ["Bob"]]


def test_workbooks_are_read_by_sheet(tmp_path):
    rows = [list(row) for row in LEFT]
    path = workbook(tmp_path / "x.xlsx", {"Products": rows, "Notes": [["id", "price"], [1, 2.5], [2, 3.0]]})
    file = read_file(path)
    assert (file.form.words, file.form.sheets) == ("xlsx, sheet Products", ("Products", "Notes"))
    assert cells(file) == LEFT
    assert cells(read_file(path, ReadOptions(sheet="Notes"))) == [["id", "price"], ["1", "2.5"], ["2", "3"]]
    (problem,) = read_file(path, ReadOptions(sheet="Prices")).problems
    assert problem.kind == "unknown_sheet"
    assert "'Products'" in problem.cure


def test_cells_of_workbooks_are_written_as_in_a_csv():
    values = [None, "x", True, 3, 3.0, 2.5, datetime.datetime(2026, 1, 2), datetime.datetime(2026, 1, 2, 3, 4)]
    assert [cell_text(value) for value in values] == [
        None, "x", "1", "3", "3", "2.5", "2026-01-02", "2026-01-02T03:04:00",
    ]  # fmt: skip


def test_parquet_is_read(tmp_path):
    write_parquet(tmp_path / "x.parquet", LEFT)
    assert cells(read_file(tmp_path / "x.parquet")) == LEFT


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("x.xlsx", b"not a workbook", "corrupt_workbook"),
        ("x.parquet", b"nothing", "corrupt_parquet"),
        ("x.doc", b"words", "unknown_format"),
        ("x.csv", b"", "empty_file"),
        ("x.csv", b"\xff\xfe", "empty_file"),
    ],
)
def test_files_that_are_no_tables_are_told(tmp_path, name, content, kind):
    (tmp_path / name).write_bytes(content)
    file = read_file(tmp_path / name)
    assert file.text is None
    assert [problem.kind for problem in file.problems] == [kind]


@given(content=st.binary(max_size=300), ending=st.sampled_from([".csv", ".xlsx", ".parquet", ".tsv"]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_make_reading_fail(tmp_path, content, ending):
    path = tmp_path / f"x{ending}"
    path.write_bytes(content)
    file = read_file(path)
    assert file.text is not None or file.errors
    suggest([file])


@given(
    text=st.text(alphabet=st.sampled_from('a1;,|\t"\n é€Ж中'), max_size=80),
    encoding=st.sampled_from(["utf-8", "utf-16"]),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_makes_the_suggestion_fail(tmp_path, text, encoding):
    (tmp_path / "x.csv").write_bytes(text.encode(encoding))
    (tmp_path / "y.csv").write_bytes(b"id;name\n1;a\n2;b\n")
    files = [read_file(tmp_path / "x.csv"), read_file(tmp_path / "y.csv")]
    assemble(files, suggest(files))


def test_nested_archives_give_their_tables(tmp_path):
    inner = zipped({"deep/b.csv": text(LEFT).encode(), "readme.md": b"no table"})
    packed = {
        "data/a.csv": b"id\n1",
        "other/a.csv": b"id\n2",
        "inner.zip": inner,
        "__MACOSX/a.csv": b"x",
        ".b.csv": b"",
    }
    (tmp_path / "x.zip").write_bytes(zipped(packed))
    (tmp_path / "into").mkdir()
    found = unpacked([tmp_path / "x.zip"], tmp_path / "into")
    assert sorted(path.name for path in found) == ["a.csv", "b.csv", "other-a.csv"]
    assert sorted(path.name for path in (tmp_path / "into").iterdir()) == ["a.csv", "b.csv", "other-a.csv"]
    assert cells(read_file(tmp_path / "into" / "b.csv")) == LEFT


def test_a_workbook_whose_sheet_cannot_be_inflated_is_told(tmp_path):
    path = workbook(tmp_path / "x.xlsx", {"s": [[f"name {n}", n] for n in range(200)]})
    with zipfile.ZipFile(path) as packed:
        sheet = next(one for one in packed.infolist() if "sheet1" in one.filename)
    content = bytearray(path.read_bytes())
    start = sheet.header_offset + 30 + len(sheet.filename)
    content[start : start + 200] = b"\xff" * 200
    path.write_bytes(content)
    assert [problem.kind for problem in read_file(path).problems] == ["corrupt_workbook"]


def test_a_nul_beside_a_byte_that_the_encoding_lacks_is_told(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"id,caf\xe9 \0\x81,name\n1,b,caf\xe9\n2,c,th\xe9\n")
    file = read_file(tmp_path / "x.csv", ReadOptions(encoding="cp1252"))
    assert {problem.kind for problem in file.problems} >= {"nul_byte", "broken_encoding"}


def nested(depth: int) -> bytes:
    content = zipped({"a.csv": b"id\n1"})
    for _ in range(depth):
        content = zipped({"inside.zip": content})
    return content


def pointing_nowhere(archive: bytes) -> bytes:
    """The directory of the archive names a place before the beginning of the file."""
    place = archive.rfind(b"PK\5\6") + 16  # where the directory begins, as the archive says
    return archive[:place] + (1_000_000).to_bytes(4, "little") + archive[place + 4 :]


@pytest.mark.parametrize(
    "content",
    [
        b"not a zip",
        zipped({"../a.csv": b"id"}),
        zipped({"/a.csv": b"id"}),
        zipped({f"{n}.csv": b"id" for n in range(1_001)}),
        nested(3),
        zipped({"readme.md": b"no table"}),
        zipped({"x" * 300 + ".csv": b"id"}),
        zipped({"a.csv": b"id"}).replace(b"a.csv", b"\0.csv"),  # a name ends at a NUL
        pointing_nowhere(zipped({"a.csv": b"id\n1"})),
    ],
)
def test_unsafe_and_useless_archives_are_refused(tmp_path, content):
    (tmp_path / "x.zip").write_bytes(content)
    (tmp_path / "into").mkdir()
    with pytest.raises(DataFormatError) as told:
        unpacked([tmp_path / "x.zip"], tmp_path / "into")
    assert [problem.kind for problem in told.value.problems] == ["corrupt_archive"]
    assert not list(tmp_path.glob("*.csv"))
