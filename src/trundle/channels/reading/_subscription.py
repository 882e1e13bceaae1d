"""What a subscriber has settled about a channel: where it is, what it is called, and how it is followed."""

import msgspec

from trundle.channels.policy import Policy


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    """How a package follows a channel. Records that need any of this hold the subscription as a whole.

    Attributes:
        repository: the reference of the package's repository.
        channel: where the channel is: its name, for a channel in the repository; else the URL or the folder of
            its files.
        name: the channel's name, such as `stable`; empty where the channel's own files say it.
        signed: whether the channel's signatures are verified.
        policy: the package's own upgrade policy; None for the policy that holds without one.
    """

    repository: str
    channel: str
    name: str = ""
    signed: bool = True
    policy: Policy | None = None
