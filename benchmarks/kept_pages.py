"""What the pages Environments, Channels and Installed are measured over: many environments and one with many objects, and a signed channel with many versions."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from filled_channels import PACKAGE, WORD, filled, now, package
from starlette.applications import Starlette

from trundle.api import Access
from trundle.api.access import Guard
from trundle.api.catalogs import CatalogRoutes
from trundle.api.environments import EnvironmentRoutes, Means, running
from trundle.catalog import Catalog
from trundle.channels.publishing import (
    ChannelSigner,
    KeyFolder,
    PublishedChannel,
    PublishRequest,
    make_keys,
    publish,
)
from trundle.channels.reading import Subscription
from trundle.cli._environments import opened_providers
from trundle.dashboard import ServerPage, ShownInstallation, page_application
from trundle.engine import Limits
from trundle.environments import Actions, Environments, deploy
from trundle.installation import Install, Installation, install, upgrade
from trundle.providers import FolderProvider
from trundle.registry import DirectoryRegistry
from trundle.store import Store

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
import kept as support
from storing import people

TENANT, SHOP = "acme", "shop"
ENVIRONMENTS, APPLICATIONS, CHANNEL = 500, 100, 500


@contextlib.contextmanager
def environments(folder: Path) -> Iterator[Any]:
    """The page of a server with many environments; one has many objects, deployed, and as many in a draft."""
    url, access = f"sqlite:///{folder / 'kept.db'}", Access()
    providers = {"folder": FolderProvider(folder / "deployed")}
    with Catalog(url) as catalog, Store(folder / "people.sqlite", people()) as store:
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
        limits = Limits(seconds=60.0)
        with running(Actions(kept), Means(url, opened_providers, limits)) as runner:
            page = ServerPage(access, has_packages=True, has_environments=True)
            own = EnvironmentRoutes(kept, runner).routes
            routes = [*CatalogRoutes(catalog).routes, *own, *page.routes((), store)]
            yield page.around(Guard(Starlette(routes=routes), access))


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
    keys, reference = folder / "keys", f"oci:{folder}/registry//{PACKAGE}"
    make_keys(keys, None, now=now())
    root = (keys / "root.json").read_bytes()
    repository = DirectoryRegistry(folder / "registry").repository(PACKAGE)
    filled(repository, folder, CHANNEL)
    signer = ChannelSigner(KeyFolder(keys, lambda: b""), clock=now)
    channel = PublishedChannel(repository, WORD, clock=now, package=PACKAGE, signer=signer)
    publish(channel, PublishRequest(package(folder / "older", "9.0.0")))
    with Installation(folder / "state", clock=now) as installation:
        install(installation, Install(reference=reference, root=root))
        publish(channel, PublishRequest(package(folder / "newer", "9.0.1")))
        upgrade(installation, [PACKAGE])
    with (
        Catalog(folder / "catalog.db") as catalog,
        Store(folder / "store.sqlite", people()) as store,
    ):
        place = Subscription(repository=reference, channel=WORD)
        catalog.channels.follow(place, root, tenant=TENANT)
        page = ServerPage(Access(), has_packages=True)
        routes = [*CatalogRoutes(catalog).routes, *page.routes((), store)]
        yield Channels(
            page.around(Guard(Starlette(routes=routes), Access())),
            page_application({}, ShownInstallation(folder / "state", now)),
        )
