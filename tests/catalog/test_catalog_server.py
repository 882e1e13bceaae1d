"""A catalog at a server does what one in a database does, and says what a server refuses."""

import pytest
from bundles import bundle
from listening_apps import listening
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from trundle.api.catalogs import CatalogRoutes
from trundle.catalog import (
    Catalog,
    CatalogServer,
    DamagedContentError,
    NoSuchPackageError,
    ServerError,
)
from trundle.errors import Kind
from trundle.registry import UnreachableError
from trundle.version import SemVer


@pytest.fixture
def kept(tmp_path):
    with Catalog(tmp_path / "catalog.db") as opened:
        yield opened


@pytest.fixture
def remote(kept):
    with listening(Starlette(routes=CatalogRoutes(kept).routes)) as url:
        yield CatalogServer(f"{url}/")


def test_what_is_uploaded_is_seen_as_in_the_database(kept, remote):
    packages = [bundle("a.App", each, needs={"b.Lib": "1"}) for each in ("1.0.0", "1.1.0")]
    needed = bundle("b.Lib", "1.2.3")
    tried = remote.upload([*packages, needed], tenant="acme", dry_run=True)
    assert tried.stored == (*packages, needed)
    assert kept.offers("acme") == ()
    done = remote.upload([*packages, needed], tenant="acme", public=True)
    assert (done.stored, done.findings, done.refused) == ((*packages, needed), (), False)
    assert remote.offers("acme") == kept.offers("acme") == remote.offers("other")
    assert remote.offers("acme", "b.Lib") == kept.offers("acme", "b.Lib")
    for version in (None, SemVer.parse("1.0.0")):
        found = remote.package("a.App", version, tenant="acme")
        assert found == kept.package("a.App", version, tenant="acme")
        assert found[1].archive == kept.package("a.App", version, tenant="acme")[1].archive


@pytest.mark.full
def test_findings_are_those_of_the_catalog(kept, remote):
    kept.upload([bundle("a.App", text="first")], tenant="acme")
    packages = [
        bundle("a.App", text="other"),
        bundle("b.App", needs={"no.Lib": "1"}, Main="Name: b.App.Main\nExtends: no.Thing\n"),
    ]
    expected = kept.upload(packages, tenant="acme")
    assert len(expected.findings) > 1
    assert remote.upload(packages, tenant="acme") == expected
    assert expected.refused


@pytest.mark.full
def test_what_is_not_there_is_said(kept, remote):
    kept.upload([bundle("a.App")], tenant="acme")
    with pytest.raises(NoSuchPackageError, match=r"found no version of no\.App"):
        remote.package("no.App", tenant="acme")
    with pytest.raises(ServerError, match=r"status 404: .* found only 1\.0\.0") as raised:
        remote.package("a.App", SemVer.parse("2.0.0"), tenant="acme")
    assert raised.value.kind is Kind.NOT_FOUND
    with pytest.raises(ServerError, match="status 400: the tenant") as raised:
        remote.offers("-")
    assert raised.value.kind is Kind.USAGE


def test_a_server_of_something_else_is_said():
    routes = [
        Route("/v2/tenants/text/packages", lambda _: PlainTextResponse("hello")),
        Route("/v2/tenants/other/packages", lambda _: JSONResponse({"packages": [{}]})),
    ]
    with listening(Starlette(routes=routes)) as url:
        for tenant in ("text", "other"):
            with pytest.raises(ServerError, match="expected the answer of a server of a catalog"):
                CatalogServer(url).offers(tenant)
        with pytest.raises(ServerError, match="status 404: no message"):
            CatalogServer(url).offers("none")
    with pytest.raises(UnreachableError):
        CatalogServer(url).upload([bundle("a.App")], tenant="acme")


def test_content_that_is_not_what_the_server_lists_is_refused():
    said = {"name": "a.App", "version": "1.0.0", "tenant": "acme", "digest": bundle("b").digest}
    archives = iter([bundle("a.App").archive, b"nothing"])
    at = "/v2/tenants/acme/packages/a.App/versions/1.0.0"
    routes = [
        Route(at, lambda _: JSONResponse(said)),
        Route(f"{at}/content", lambda _: PlainTextResponse(next(archives))),
    ]
    with listening(Starlette(routes=routes)) as url:
        for _ in range(2):
            with pytest.raises(
                DamagedContentError, match=r"expected the content of a\.App 1\.0\.0"
            ):
                CatalogServer(url).package("a.App", SemVer.parse("1.0.0"), tenant="acme")


def test_the_token_is_sent_and_no_redirect_is_followed():
    seen = []

    def answer(request):
        seen.append((request.url.path, request.headers.get("authorization")))
        return PlainTextResponse("", 302, {"location": "/elsewhere"})

    application = Starlette(routes=[Route("/{rest:path}", answer)])
    with listening(application) as url, pytest.raises(ServerError, match="status 302"):
        CatalogServer(url, "secret").offers("acme")
    assert seen == [("/v2/tenants/acme/packages", "Bearer secret")]
