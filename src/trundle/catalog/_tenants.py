"""What tenants, and environments, can be called."""

import re

from trundle.catalog._errors import InvalidTenantError

_TENANT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._@:-]{0,253}[A-Za-z0-9])?")


def check_tenant(tenant: str, what: str = "the tenant") -> None:
    """Refuses what no tenant, and no environment, can be called.

    Raises:
        InvalidTenantError: it is no such name.
    """
    if not _TENANT.fullmatch(tenant):
        expected = "1 to 255 letters, digits and . _ - @ :, a letter or digit at either end"
        raise InvalidTenantError(what, expected, repr(tenant[:60]), "correct the name")
