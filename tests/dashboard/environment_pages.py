"""The page of a server with environments, in this process, and packages that they have."""

import contextlib

from catalog_pages import pages_over
from environment_servers import Client, environment_routes
from kept import APP, PACKAGE

from trundle.catalog import Catalog
from trundle.packages import Package

UI = """
Version: 2.4
Application:
  ?: {type: f.App}
  documents: {size: $.shop.size, secret: $.shop.admin, count: $.nodes.count}
Forms:
  - shop:
      fields:
        - {name: size, type: choice, label: Size, choices: [[s, Small], [l, Large]]}
        - {name: admin, type: password, label: Password, required: false}
  - nodes:
      fields:
        - {name: count, type: integer, label: Number of nodes, initial: 2, minValue: 1, maxValue: 5}
        - name: pattern
          type: string
          label: Names
          initial: 'web-#'
          regexpValidator: '^[a-z]+-?#?$'
          errorMessages: {invalid: small letters and at most one number sign}
        - {name: public, type: boolean, label: Public, initial: false}
      validators:
        - {expr: $.nodes.count < 4 or $.shop.size = l, message: a small shop has three nodes}
"""


SIZES = """
  sizes:
    Usage: Static
    Scope: Public
    Body:
      - Return: {sizes: [[s, Small], [l, Large], [x, Huge]]}
"""


def asking_package(name="g", sizes=SIZES):
    """A package with a form whose choices a method of it gives."""
    ui = UI.replace("Version: 2.4", "Version: 2.4\nParametersSource: sizes")
    ui = ui.replace("[[s, Small], [l, Large]]", "$sizes").replace("f.App", f"{name}.App")
    return form_package(ui, name, sizes)


def form_package(ui=UI, name="f", methods=""):
    """A package whose application is asked for by a form."""
    manifest = (
        f"Format: '1.4'\nFullName: {name}\nType: Application\nVersion: 1.0.0\n"
        f"Require: {{io.trundle: '1'}}\nClasses: {{{name}.App: App.yaml}}\nUI: ui.yaml\n"
    )
    text = APP.replace("=: a", f"=: {name}") + methods.lstrip("\n")
    files = {"manifest.yaml": manifest, "Classes/App.yaml": text, "UI/ui.yaml": ui}
    return Package.from_files(files)


def upgraded():
    """A newer version of the package without a form."""
    manifest = PACKAGE.file("manifest.yaml").decode().replace("1.0.0", "1.1.0")
    files = {name: PACKAGE.file(name).decode() for name in PACKAGE.files}
    return Package.from_files({**files, "manifest.yaml": manifest})


@contextlib.contextmanager
def served(folder, access=None, packages=(PACKAGE,)):
    """The page and a client of its API, for the tenant `acme`."""
    url, deployed = f"sqlite:///{folder / 'catalog.db'}", folder / "deployed"
    with Catalog(url) as catalog:
        if packages:
            assert not catalog.upload(packages, tenant="acme").refused
        with (
            environment_routes(catalog, url, deployed) as routes,
            pages_over(catalog, folder, routes) as make,
        ):
            yield make(access), Client(deployed, catalog, routes)
