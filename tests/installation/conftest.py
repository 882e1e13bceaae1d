import pytest


@pytest.fixture(autouse=True)
def no_docker_configuration(tmp_path, monkeypatch):
    """Keeps the configuration of the user who runs the tests out of them."""
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    for name in ("TRUNDLE_KEYS", "TRUNDLE_KEY_PASSPHRASE", "http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
