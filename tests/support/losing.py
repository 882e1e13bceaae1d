"""Takes manifests away from registries behind Trundle's back, as those may who run them."""

import json

import urllib3

from trundle.registry import Repository


def lose_manifest(repository: Repository, digest: str) -> None:
    """Removes a manifest with every tag that points to it."""
    transport = getattr(repository, "transport", None)
    if transport is not None:
        url = f"{transport.base}/v2/{repository.name}/manifests/{digest}"
        assert urllib3.request("DELETE", url, retries=False).status == 202
        return
    file = repository.folder / "index.json"
    index = json.loads(file.read_bytes())
    index["manifests"] = [each for each in index["manifests"] if each["digest"] != digest]
    file.write_text(json.dumps(index))
    (repository.folder / "blobs" / "sha256" / digest.removeprefix("sha256:")).unlink()
