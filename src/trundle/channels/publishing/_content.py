"""The tags of versions in the registry: looked up, set again, and removed without harm to other tags."""

from trundle.channels.files import Entry
from trundle.registry import REMOVED_ARTIFACT, NotFoundError, RefusedError, Repository


def digest_of_tag(repository: Repository, tag: str) -> str | None:
    """What a tag names; None where there is no such tag."""
    try:
        return repository.resolve(tag).digest
    except NotFoundError:
        return None


def is_being_removed(repository: Repository, tag: str) -> bool:
    """Whether somebody began to remove a tag, and died."""
    try:
        document = repository.get_manifest(tag).document
    except NotFoundError:
        return False
    return document.artifact_type == REMOVED_ARTIFACT


def remove_version_tag(repository: Repository, entry: Entry) -> tuple[str, ...]:
    """Removes a version's tag; and its manifest, where no other tag needs that and the registry only deletes manifests.

    Returns:
        Why the tag is still there; empty where it is not.

    Raises:
        RegistryError: the registry cannot be reached.
    """
    found = digest_of_tag(repository, entry.tag_name)
    if found is None:
        return ()
    others = entry.digest is not None and found != entry.digest
    if others and not is_being_removed(repository, entry.tag_name):
        return (f"the tag {entry.tag_name} names {found}, which is not this version; it was left",)
    try:
        repository.remove_tag(entry.tag_name)
    except NotFoundError:
        return ()
    except RefusedError as error:
        return (f"the content is still in the registry: {error}",)
    return ()
