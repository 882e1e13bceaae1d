"""What goes wrong with static methods of packages."""

from trundle.project.errors import ProjectError


class StaticMethodError(ProjectError):
    """A static method that failed, reached a limit, or returned what is no plain value."""


class LimitReachedError(StaticMethodError):
    """A static method that would have taken more than it may."""
