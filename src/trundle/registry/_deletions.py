"""Deleting manifests over HTTP, at registries that fail while they do it.

Debian's `docker-registry` (2.8) deletes the manifest first and looks at all tags then. Where another tag is being set
meanwhile, it says that the request was invalid, although the manifest is gone.
"""

import contextlib

from trundle.registry._requests import Requests, missing
from trundle.registry._transport import TransferError, Transport, fault_text
from trundle.registry.errors import NotFoundError, RegistryRefusedError, UnreachableError

_NEVER = "sha256:" + 64 * "0"
"""A digest that nothing has."""

_OK, _ACCEPTED = 200, 202
_BAD_REQUEST, _NOT_FOUND, _NO_METHOD = 400, 404, 405


class Deletions:
    """Deletes manifests of one repository.

    Args:
        requests: sends the requests.
        transport: says how often to try again, and waits in between.
        location: the repository, as messages have it.
        path: the path of the repository's manifests.
    """

    def __init__(self, requests: Requests, transport: Transport, location: str, path: str) -> None:
        self._requests = requests
        self._transport = transport
        self._location = location
        self._path = path
        self._checked = False

    def check(self) -> None:
        """Makes sure that the registry deletes before tags are set that have to go again.

        Raises:
            RegistryRefusedError: it does not.
        """
        if self._checked:
            return
        with contextlib.suppress(NotFoundError):
            self.delete(_NEVER)
        self._checked = True

    def delete(self, digest: str) -> bool:
        """Deletes a manifest with its tags; whether that went without a failure that may have left tags in the lists.

        Raises:
            NotFoundError: there is no such manifest.
            RegistryRefusedError: the registry does not delete, or not this manifest.
            UnreachableError: it failed each time.
        """
        where = f"{self._location}@{digest}"
        url = f"{self._path}/{digest}"
        accept = {_OK, _ACCEPTED, _BAD_REQUEST, _NOT_FOUND, _NO_METHOD}
        failure = ""
        for attempt in range(self._transport.settings.retries + 1):
            try:
                response = self._requests.call("DELETE", url, accept, repeatable=False)
            except TransferError as error:
                failure = str(error)
                self._transport.pause(attempt)
                continue
            message = fault_text(response)
            match response.status_code:
                case 404 if not failure:
                    raise missing(where)
                case 405:
                    raise self._no_deletes()
                case 400 if "DIGEST_INVALID" not in message:
                    raise RegistryRefusedError(
                        where, "the manifest to be deleted", message, "see what the registry allows"
                    )
                case 400:
                    # docker-registry looks at all tags, and says this when another is being set.
                    failure = message
                    self._transport.pause(attempt)
                case _:
                    return not failure
        raise UnreachableError(where, "the manifest to be deleted", failure, "try again later")

    def _no_deletes(self) -> RegistryRefusedError:
        return RegistryRefusedError(
            self._location,
            "a registry that deletes",
            "one where that is switched off",
            "switch it on; docker-registry has `storage: delete: enabled: true` for it",
        )
