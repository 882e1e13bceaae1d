"""What `trundle serve --aggregated` needs: the cluster behind whose API server it stands."""

from trundle.kubernetes._cluster import connect
from trundle.kubernetes._delegation import Delegation
from trundle.kubernetes._front_proxy import FollowedProxy, FrontProxy

__all__ = ["Delegation", "FollowedProxy", "FrontProxy", "connect"]
