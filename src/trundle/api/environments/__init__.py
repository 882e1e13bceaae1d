"""Environments over HTTP, beside the packages of their catalog: models and drafts are read and changed, runs are actions that go on in the background.

What changes a model or runs one has a process of its own. What environments may reach is said by those who run the server: `Place`.
"""

from trundle.api.environments._places import Place, settings_at
from trundle.api.environments._routes import EnvironmentRoutes
from trundle.api.environments._runner import Runner, running
from trundle.api.environments._work import Means, Opening

__all__ = ["EnvironmentRoutes", "Means", "Opening", "Place", "Runner", "running", "settings_at"]
