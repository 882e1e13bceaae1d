"""Documents of the first version of a workload: about 2 KB of JSON each, all different."""

from typing import Any

FIRST, SECOND, LAST = "2020-01-01", "2021-01-01", "2025-01-01"
"""The first version, its neighbour, and the last, which is five versions away."""

MANY = 100
"""How many elements the list of a large document has."""


def document(number: int) -> dict[str, Any]:
    """A workload as the first version writes it.

    Args:
        number: makes the document differ from others.
    """
    name = f"billing-{number:04}"
    return {
        "apiVersion": FIRST,
        "kind": "Workload",
        "metadata": {"name": name, "annotations": {"example.com/reviewed-by": "Ülkü Öztürk"}},
        "id": f"6f1d5c1e-0b54-4a53-9d0c-{number:012}",
        "title": f"Billing {number} \N{EN DASH} \N{LEFT DOUBLE QUOTATION MARK}invoices\N{RIGHT DOUBLE QUOTATION MARK}",
        "owner": {
            "name": "Payments",
            "email": "payments@example.com",
            "contact": {"phone": "+49 30 1234567", "room": "B-214", "onCall": number % 2 == 0},
        },
        "tier": ("basic", "standard", "premium")[number % 3],
        "replicas": 2 + number % 5,
        "public": True,
        "load": 0.25 + number,
        "costCenter": f"CC-{4700 + number}",
        "tags": ["billing", "invoices", "eu", f"wave-{number % 7}"],
        "labels": {"app": name, "environment": "production", "team": "payments"},
        "limits": {
            "requests": {"soft": 800, "hard": 1000 + number, "unit": "per second"},
            "storage": {"hard": 9007199254740993, "unit": "bytes"},
        },
        "schedule": {"window": "22:00-02:00", "days": ["monday", "thursday"], "paused": False},
        "containers": [
            _container("api", number, 8080, privileged=False),
            _container("worker", number, 8081, privileged=True),
            _container("exporter", number, 9100, privileged=False),
        ],
        "endpoints": [
            {
                "name": "public",
                "port": 443,
                "host": "billing.example.com",
                "secure": True,
                "weight": 1,
            },
            {"name": "metrics", "port": 9100, "secure": False, "weight": 0.5},
        ],
        "settings": {
            "currencies": ["EUR", "CHF", "SEK"],
            "rounding": {"mode": "half-even", "digits": 2, "tolerance": 0.001},
            "features": {"dunning": True, "netting": None},
        },
    }


def crowded(number: int) -> dict[str, Any]:
    """A workload of the same size with five containers, and less of all else."""
    made = document(number)
    for name in ("endpoints", "limits", "settings"):
        del made[name]
    made["containers"] += [
        _container("audit", number, 8082, privileged=False),
        _container("archive", number, 8083, privileged=False),
    ]
    return made


def large(number: int) -> dict[str, Any]:
    """A workload with many containers: about 30 KB."""
    made = document(number)
    made["containers"] = [
        _container(f"worker-{place}", number, 8080 + place, privileged=place % 2 == 0)
        for place in range(MANY)
    ]
    return made


def _container(name: str, number: int, port: int, *, privileged: bool) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"registry.example.com/billing/{name}:{number}",
        "command": [f"/usr/bin/{name}", "--port", str(port)],
        "variables": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "REGION"}],
        "cpu": 2,
        "memory": 536870912,
        "privileged": privileged,
        "probe": {"path": "/healthz", "port": port, "period": 2.5, "failures": 3},
    }
