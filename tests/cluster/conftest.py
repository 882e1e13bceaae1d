from cluster_fixtures import cluster  # noqa: F401 - a fixture
from database_fixtures import in_file, on_server, server, template, url  # noqa: F401 - fixtures
from operator_fixtures import converter, operator, publisher, space  # noqa: F401 - fixtures
