"""What the pages Environments, Channels and Installed are measured over: many environments and one with many objects, and a signed channel with many versions."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from filled_channels import PACKAGE, WORD, filled

from trundle.catalog import Catalog
from trundle.channels.publishing import PublishRequest, publish
from trundle.channels.reading import Subscription
from trundle.dashboard import ShownInstallation, page_application
from trundle.environments import Environments, deploy
from trundle.installation import Install, Installation, install, upgrade
from trundle.providers import FolderProvider
from trundle.registry import DirectoryRegistry

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
import kept as support
from catalog_pages import pages_over
from environment_servers import environment_routes
from publishing_support import channel_of, keys_in, now, package

TENANT, SHOP = "acme", "shop"
ENVIRONMENTS, APPLICATIONS, CHANNEL = 500, 100, 500


@contextlib.contextmanager
def environments(folder: Path) -> Iterator[Any]:
    """The page of a server with many environments; one has many objects, deployed, and as many in a draft."""
    url = f"sqlite:///{folder / 'kept.db'}"
    providers = {"folder": FolderProvider(folder / "deployed")}
    with Catalog(url) as catalog:
        assert not catalog.upload([support.PACKAGE], tenant=TENANT).refused
        kept = Environments(catalog)
        for name in (SHOP, *(f"e{at:04}" for at in range(ENVIRONMENTS - 1))):
            kept.create(name, tenant=TENANT)

        def filling(model: Any) -> Any:
            for at in range(APPLICATIONS):
                model = support.adding(model, f"app{at:03}", {f"name{at}": at})
            return model

        kept.edit(SHOP, filling, tenant=TENANT, draft="me")
        opening = lambda _: contextlib.nullcontext(providers)  # noqa: E731
        deploy(kept, SHOP, tenant=TENANT, draft="me", opening=opening)
        kept.edit(SHOP, lambda model: support.adding(model, "more", {}), tenant=TENANT, draft="me")
        with (
            environment_routes(catalog, url, folder / "deployed") as routes,
            pages_over(catalog, folder, routes) as make,
        ):
            yield make()


class Channels(NamedTuple):
    """The pages of a signed channel with many versions.

    Attributes:
        followed: of the catalog that follows it.
        installed: of an installation of its package, which was upgraded once.
    """

    followed: Any
    installed: Any


@contextlib.contextmanager
def channels(folder: Path) -> Iterator[Channels]:
    """The pages of a channel."""
    keys, reference = keys_in(folder / "keys"), f"oci:{folder}/registry//{PACKAGE}"
    root = (keys / "root.json").read_bytes()
    repository = DirectoryRegistry(folder / "registry").repository(PACKAGE)
    filled(repository, folder, CHANNEL)
    channel = channel_of(repository, word=WORD, keys=keys)
    publish(channel, PublishRequest(package(folder / "older", "9.0.0")))
    with Installation(folder / "state", clock=now) as installation:
        install(installation, Install(reference=reference, root=root))
        publish(channel, PublishRequest(package(folder / "newer", "9.0.1")))
        upgrade(installation, [PACKAGE])
    with Catalog(folder / "catalog.db") as catalog, pages_over(catalog, folder) as make:
        place = Subscription(repository=reference, channel=WORD)
        catalog.channels.follow(place, root, tenant=TENANT)
        yield Channels(make(), page_application({}, ShownInstallation(folder / "state", now)))
