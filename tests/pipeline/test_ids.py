import uuid

from hypothesis import given
from hypothesis import strategies as st

from pipeline.ids import entry_id, message_id

NAMESPACE = uuid.UUID("5e0c8a30-7d0e-5d9e-9d43-4b6b0c6f7a51")


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(min_value=1))
def test_an_id_is_the_uuid_of_its_parts_in_our_namespace(collection: str, sequence: int) -> None:
    name = f"message\x1ft\x1f{collection}\x1f{sequence}"

    assert message_id("t", collection, sequence) == str(uuid.uuid5(NAMESPACE, name))


def test_an_id_keeps_apart_what_its_parts_keep_apart() -> None:
    first = message_id("t", "c", 1)

    assert entry_id("t", "c", first, 0) != entry_id("t", "c", first, 1)
    assert message_id("t", "c", 11) != message_id("t", "c1", 1)
