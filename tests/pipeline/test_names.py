"""Names that stay where they are put in a path."""

import pytest

from pipeline.errors import InputError
from pipeline.names import check_name, path_name

STEPS = [".", "..", "a/..", "../a", "a/./b", "a/../../b"]


@pytest.mark.parametrize("name", STEPS)
def test_a_step_of_a_path_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match="without steps of a path"):
        check_name(name)
    with pytest.raises(InputError) as refusal:
        path_name(name, field="collection")

    assert refusal.value.field == "collection"


@pytest.mark.parametrize(
    "name", ["trip", "...", "a..b", ".hidden", "v1.2", "a/b", "旅行/日记", "。。"]
)
def test_dots_that_are_no_step_may_stand_in_a_name(name: str) -> None:
    assert path_name(name, field="collection") == name
