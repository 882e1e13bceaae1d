"""What the operator keeps in a cluster of what is converted, in memory."""

import json
from types import SimpleNamespace

from trundle.kubernetes._cluster import CONFLICT, RequestError
from trundle.kubernetes.operator import Records


class ConfigMaps(Records):
    """Records whose ConfigMaps are in memory.

    Attributes:
        maps: the ConfigMaps, by name.
    """

    def __init__(self):
        super().__init__(SimpleNamespace(client=None), "trundle")
        self.maps = {}
        self._count = 0

    def _put(self, made):
        name, version = made["metadata"]["name"], made["metadata"].get("resourceVersion")
        if version != self.maps.get(name, {"metadata": {}})["metadata"].get("resourceVersion"):
            raise RequestError(name, CONFLICT, "changed")
        self._count += 1
        made = json.loads(json.dumps(made))
        made["metadata"]["resourceVersion"] = str(self._count)
        self.maps[name] = made
        return str(self._count)

    def _get(self, name):
        return self.maps.get(name)

    def _listed(self, what):
        return [each for each in self.maps.values() if what in each["metadata"]["labels"].values()]

    def _delete(self, name):
        self.maps.pop(name, None)
