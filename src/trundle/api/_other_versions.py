"""A write over an object as other versions show it, so that owners there keep or lose what they own."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from trundle.api._documents import same_content, shown_object
from trundle.api._kinds import ServedVersion
from trundle.api._ownership import Ownership
from trundle.api._requests import Target
from trundle.api._views import Views
from trundle.api.apply import Elsewhere, FieldSet, Path
from trundle.errors import TrundleError
from trundle.runtime import ConversionError, Lenience
from trundle.store import PreparedWrite, StoredObject

Document = dict[str, Any]


class OtherVersions:
    """Reads a write over an object at the versions that show fields which the version of the write hides.

    Args:
        views: how versions show objects.
        target: what is written.
        current: the object as it is stored.
        draft: what the store makes of a document at the version of the write.
        lenience: what is tolerated about it.

    Attributes:
        applied_draft: what the store makes of the applied configuration that was read last; None until one was.
    """

    def __init__(
        self,
        views: Views,
        target: Target,
        current: StoredObject,
        draft: Callable[[Document], PreparedWrite],
        lenience: Lenience,
    ) -> None:
        self._views = views
        self._target = target
        self._current = current
        self._draft = draft
        self._lenience = lenience
        self.applied_draft: PreparedWrite | None = None

    def written(self, draft: PreparedWrite, kept: FieldSet) -> Iterator[Elsewhere]:
        """A write at each version that shows some of what is kept; a version that cannot show the object is left out."""
        for served, there in self._showing(kept):
            try:
                before = shown_object(self._views.kept(self._current, self._target.kind, served))
                after = self._shown(draft, served)
            except ConversionError:
                continue
            yield there.seen(before, after)

    def applied(self, document: Document, kept: FieldSet) -> Iterator[Elsewhere]:
        """What an applied configuration makes of the object; see `written`."""
        try:
            self.applied_draft = self._draft(document)
        except TrundleError:  # What is wrong with it is said by those who write it.
            return
        yield from self.written(self.applied_draft, kept)

    def given_up(self, document: Document, fields: FieldSet) -> Document:
        """An object without what its applier stated at other versions, where its own version shows a difference; else the same one.

        Args:
            document: the object with all of that.
            fields: what the applier has stated, as it is kept.
        """
        kind = self._target.kind
        try:
            first = after = self._draft(document)
            for served, there in self._showing(fields):
                left = there.given_up(self._shown(after, served), fields)
                if left is not None:
                    over = msgspec.structs.replace(self._current, data=after.data)
                    after = self._views.draft(after.key, left, kind, served, self._lenience, over)
            if after is first:
                return document
            shown = [self._shown(each, self._target.served) for each in (first, after)]
        except TrundleError:  # It makes no sense without that, or cannot be shown.
            return document
        if same_content(*shown):
            return document
        return {**shown[1], "metadata": document["metadata"]}

    def remaining(self, document: Document, fields: FieldSet) -> FieldSet:
        """Which of the fields that an applier has stated at other versions these still show.

        Args:
            document: the object.
            fields: what the applier has stated, as it is kept.
        """
        try:
            draft = self._draft(document)
            found = (
                there.remaining(self._shown(draft, served), fields)
                for served, there in self._showing(fields)
            )
            return frozenset[Path]().union(*found)
        except TrundleError:
            return fields

    def given_back(self, whole: Document, pruned: Document, hidden: FieldSet) -> Document:
        """An object without what its applier no longer states, but with what others own of that at other versions.

        Args:
            whole: the object with what the applier no longer states.
            pruned: the object without it.
            hidden: what others own that the applier's version cannot show, as it is kept.
        """
        try:
            before, after = self._draft(whole), self._draft(pruned)
        except TrundleError:  # What is wrong with it is said by those who write it.
            return pruned
        kind, first = self._target.kind, after
        for served, there in self._showing(hidden):
            try:
                shown = [self._shown(each, served) for each in (before, after)]
            except ConversionError:
                continue
            found = there.given_back(shown[0], shown[1], hidden)
            if found is not None:
                over = msgspec.structs.replace(self._current, data=after.data)
                try:
                    after = self._views.draft(after.key, found, kind, served, self._lenience, over)
                except TrundleError:  # It makes no sense without the rest.
                    return whole
        if after is first:
            return pruned
        return {**self._shown(after, self._target.served), "metadata": pruned["metadata"]}

    def _showing(self, kept: FieldSet) -> Iterator[tuple[ServedVersion, Ownership]]:
        """The versions beside that of the write that show some of what is kept."""
        kind = self._target.kind
        for served in kind.versions.values():
            there = self._views.ownership(kind, served)
            if served is not self._target.served and there.shows(kept):
                yield served, there

    def _shown(self, draft: PreparedWrite, served: ServedVersion) -> Document:
        return self._views.drafted(draft, self._target.kind, served, self._current)
