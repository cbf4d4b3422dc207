"""Ids of rows: which are refused, and where, whatever the blocks."""

import numpy as np
import pytest

from agfmc.core import memory
from agfmc.tables import ids as row_ids
from agfmc.tables.ids import RowIds
from agfmc.core.errors import DataError
from agfmc.tables.reading import open_table


def write(tmp_path, rows, names="id,x"):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([names, *rows]) + "\n")
    return str(path)


def check(path, positions=(0,), block=64):
    with open_table(path, block=block) as table:
        ids = RowIds(table, positions)
        for part in table.blocks(dict.fromkeys(positions, "text")):
            ids.add(part)


@pytest.mark.parametrize("block", [30, 64, 1 << 20])
@pytest.mark.parametrize("seed", range(4))
def test_the_first_repeated_row_is_found_in_blocks_of_any_length(tmp_path, block, seed):
    rng = np.random.default_rng(seed)
    ids = rng.permutation(200)
    check(write(tmp_path, [f"{one},0" for one in ids]), block=block)
    first, again = sorted(rng.choice(200, 2, replace=False).tolist())
    ids[again] = ids[first]
    with pytest.raises(DataError, match="is that of an earlier row already") as error:
        check(write(tmp_path, [f"{one},0" for one in ids]), block=block)
    assert f"row {again + 1}:" in str(error.value)


def test_message_with_the_id_its_column_and_both_lines(tmp_path):
    path = write(tmp_path, ["a,1", "b,2", "c,3", "a,4", "b,5"])
    with pytest.raises(DataError) as error:
        check(path)
    assert str(error.value) == (
        f"{path}:5: row 4: column 'id' has 'a': the id is that of an earlier row already (further "
        "columns of `ids` may tell them apart; `all_columns` takes them as they are)"
    )


def test_of_an_id_that_comes_three_times_the_second_row_is_named(tmp_path):
    with pytest.raises(DataError, match="of an earlier row already") as error:
        check(write(tmp_path, ["a,1", "b,2", "c,3", "a,4", "d,5", "a,6"]), block=20)
    assert "row 4:" in str(error.value)


def test_several_columns_are_one_id(tmp_path):
    path = write(tmp_path, ["a,1", "a,2", "b,1", "a1,", ",a1", "a,1"])
    with pytest.raises(
        DataError, match="columns 'id' has 'a', 'x' has '1': the id is that of an earlier row"
    ) as error:
        check(path, (0, 1))
    assert "row 6:" in str(error.value)


def test_columns_do_not_run_into_each_other(tmp_path):
    check(write(tmp_path, ["ab,c", "a,bc", "1:a,b", "1:a1:b,"]), (0, 1))


def test_cells_are_compared_as_they_stand(tmp_path):
    check(write(tmp_path, ["1,x", "01,x", "1.0,x", "é,x", "É,x", '" 1",x', ",x"]))


def test_half_of_the_bits_are_no_id(tmp_path, monkeypatch):
    class Half:
        def __init__(self, key, digest_size):
            self.key = key

        def digest(self):
            return bytes(8) + self.key.rjust(8)

    monkeypatch.setattr(row_ids, "blake2b", Half)
    check(write(tmp_path, ["a,1", "b,2", "c,3"]))
    with pytest.raises(DataError, match="'a': the id is that of an earlier row") as error:
        check(write(tmp_path, ["a,1", "b,2", "c,3", "a,4"]))
    assert "row 4:" in str(error.value)


def test_more_ids_than_memory_holds_are_refused_before(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "memory_limit", lambda: 1000)
    with pytest.raises(DataError, match="the ids of the rows are more than"):
        check(write(tmp_path, [f"{i},0" for i in range(40)]))
