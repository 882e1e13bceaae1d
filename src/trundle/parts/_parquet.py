"""Reads documents out of a column of Parquet files, and writes files of the same columns, by pyarrow."""

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from trundle.parts._digests import Digest
from trundle.parts._errors import UnusableFileError
from trundle.parts._folders import Folder
from trundle.parts._json_lines import NumberedDocument


def row_groups(folder: Folder, path: str, column: str) -> tuple[tuple[int, int], ...]:
    """The rows and bytes of each row group of a file.

    Raises:
        UnusableFileError: it is no Parquet file, or has no such column of text or bytes.
    """
    with folder.open(path) as stream:
        file = _opened(stream, folder.named(path))
        _require_column(file, folder.named(path), column)
        groups = [file.metadata.row_group(each) for each in range(file.num_row_groups)]
        return tuple((each.num_rows, each.total_byte_size) for each in groups)


class Rows:
    """The rows of a row group.

    Args:
        stream: the file.
        name: the file as a user would write it.
        group: the number of the row group.
        column: the column with documents.

    Attributes:
        table: all columns.
        count: how many rows there are.
        digest: the digest of the documents.
    """

    def __init__(self, stream: Any, name: str, group: int, column: str) -> None:
        file = _opened(stream, name)
        _require_column(file, name, column)
        with _readable(name):
            self.table = file.read_row_group(group)
        self._column = column
        self._hash = Digest()
        self.count = self.table.num_rows

    @property
    def digest(self) -> str:
        """See above."""
        return str(self._hash)

    def __iter__(self) -> Iterator[NumberedDocument]:
        column = self.table.column(self._column)
        values = (value for chunk in column.chunks for value in _bytes(chunk).to_pylist())
        for number, value in enumerate(values, 1):
            self._hash.update(b"-" if value is None else b"%d:%b" % (len(value), value))
            yield NumberedDocument(number, value)


def written(tables: list[tuple[Any, list[int], list[bytes]]], column: str) -> bytes:
    """A file with rows of other files, in which other documents stand.

    Args:
        tables: the rows of row groups, which of them stay, and the document of each of those.
        column: the column with documents.
    """
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    made = []
    for table, rows, documents in tables:
        at = table.schema.get_field_index(column)
        field = table.schema.field(at)
        values = pa.array(documents, type=pa.large_binary())
        made.append(_with(table, rows).set_column(at, field, _typed(values, field.type)))
    buffer = io.BytesIO()
    parquet.write_table(pa.concat_tables(made), buffer, compression="zstd")
    return buffer.getvalue()


def _with(table: Any, rows: list[int]) -> Any:
    """A table with some of its rows, in stretches of those that follow each other: pyarrow takes single ones of some types alone."""
    import pyarrow as pa  # noqa: PLC0415

    stretches: list[list[int]] = []
    for each in rows:
        if stretches and each == stretches[-1][-1]:
            stretches[-1][-1] = each + 1
        else:
            stretches.append([each, each + 1])
    kept = [table.slice(begin, end - begin) for begin, end in stretches]
    return pa.concat_tables(kept or [table.slice(0, 0)])


def _opened(stream: Any, name: str) -> Any:
    from pyarrow import parquet  # noqa: PLC0415

    with _readable(name):
        return parquet.ParquetFile(stream)


@contextlib.contextmanager
def _readable(name: str) -> Iterator[None]:
    from pyarrow import ArrowException  # noqa: PLC0415

    try:
        yield
    except (ArrowException, OSError) as error:
        expected, advice = "a Parquet file", "write it again, or move it away"
        raise UnusableFileError(name, expected, str(error), advice) from None


def _require_column(file: Any, name: str, column: str) -> None:
    from pyarrow import types  # noqa: PLC0415

    schema = file.schema_arrow
    if schema.names.count(column) != 1:
        found, advice = ", ".join(schema.names), "name the column with --column"
        raise UnusableFileError(name, f"a column {column}", found or "no column", advice)
    kind = _plain(schema.field(column).type)
    texts = types.is_string, types.is_large_string, types.is_string_view
    if not any(
        test(kind)
        for test in (*texts, types.is_binary, types.is_large_binary, types.is_binary_view)
    ):
        expected, advice = f"JSON documents in the column {column}", "write them as text or bytes"
        raise UnusableFileError(name, expected, str(kind), advice)


def _bytes(chunk: Any) -> Any:
    """The texts of a stretch of a column; pyarrow casts dictionaries of some types of text in this way alone."""
    import pyarrow as pa  # noqa: PLC0415

    if isinstance(chunk, pa.DictionaryArray):
        return chunk.dictionary.cast(pa.large_binary()).take(chunk.indices)
    return chunk.cast(pa.large_binary())


def _typed(values: Any, kind: Any) -> Any:
    """Texts as a column of some type has them."""
    import pyarrow as pa  # noqa: PLC0415

    if not pa.types.is_dictionary(kind):
        return values.cast(kind)
    encoded = values.dictionary_encode()
    indices, words = encoded.indices.cast(kind.index_type), encoded.dictionary.cast(kind.value_type)
    return pa.DictionaryArray.from_arrays(indices, words, ordered=kind.ordered)


def _plain(kind: Any) -> Any:
    """The type of the values in a column: those of a dictionary, where it has one."""
    from pyarrow import types  # noqa: PLC0415

    return kind.value_type if types.is_dictionary(kind) else kind
