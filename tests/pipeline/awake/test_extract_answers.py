from pipeline.awake.extract_answers import MOST, leading


def test_a_short_answer_is_kept() -> None:
    assert leading("Rye keeps longer. Oats do not.") == ["Rye keeps longer.", "Oats do not."]


def test_offers_and_questions_fall_away() -> None:
    assert leading("Rye keeps longer. Would you like a recipe?") == ["Rye keeps longer."]


def test_a_long_answer_gives_its_first_sentence_its_list_and_its_most_telling_sentence() -> None:
    answer = (
        "Sure! Small boats need little care. Three habits help:\n"
        "1. **Rinsing**: fresh water after each trip.\n"
        "2. **Drying**: open all hatches.\n"
        "3. **Oiling**: every 6 weeks, 20 ml per hinge.\n"
        "Let me know if you need more!"
    )

    found = leading(answer)

    assert found == [
        "Small boats need little care.",
        "Three habits help: Rinsing; Drying; Oiling.",
        "Oiling: every 6 weeks, 20 ml per hinge.",
    ]


def test_a_list_inside_a_line_is_a_list_too() -> None:
    answer = "养护方法：1. 冲洗：每次用清水。2. 晾干：打开舱口。3. 上油：每6周一次，20毫升。"

    assert "养护方法：冲洗；晾干；上油。" in leading(answer)


def test_answers_never_flood() -> None:
    answer = " ".join(f"Sentence number {n} tells of harbour {n}." for n in range(80))

    assert len(leading(answer)) <= MOST
