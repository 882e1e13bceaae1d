import json

from universes import release

from trundle.packages import lock_of

LOCK = lock_of(
    [
        release("lib 1.10.0-rc+5"),
        release("app 1.0.0", "lib >=1.2,<2", "base"),
        release("base 0.1.0", "app 1"),
    ]
)


def test_a_lock_is_written_for_other_tools():
    written = json.loads(LOCK.to_json())
    assert written["format"] == 1
    assert written["packages"] == [
        {
            "name": each.name,
            "version": str(each.version),
            "digest": each.digest,
            "requires": {one.name: str(one.range) for one in each.requirements},
        }
        for each in LOCK.releases
    ]
    assert written["packages"][2]["version"] == "1.10.0-rc+5"
    assert LOCK.to_json() == lock_of(reversed(LOCK.releases)).to_json()
    assert [each.name for each in LOCK.releases] == ["app", "base", "lib"]
