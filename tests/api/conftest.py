from cluster_fixtures import cluster  # noqa: F401 - a fixture
