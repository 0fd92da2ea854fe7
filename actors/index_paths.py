"""What lies beside the folder of the embedded index. Knows names, nothing of the engine."""

from pathlib import Path


def folders_set_aside(folder: Path) -> list[Path]:
    """The damaged folders that were taken out of the way of this one."""
    return sorted(folder.parent.glob(f"{folder.name}.damaged-[0-9]*"))


def remains(folder: Path) -> list[Path]:
    """What a killed rebuild may have left."""
    beside = (folder.with_name(f"{folder.name}{end}") for end in (".next", ".last"))
    return [each for each in beside if each.exists()]


def mark_of(folder: Path) -> Path:
    """The file that counts the openings of the folder which did not come to an end."""
    return folder.with_name(f"{folder.name}.opening")
