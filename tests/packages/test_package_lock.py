import pytest
from universes import release

from trundle.packages import Lock, LockError, lock_of

LOCK = lock_of(
    [
        release("lib 1.10.0-rc+5"),
        release("app 1.0.0", "lib >=1.2,<2", "base"),
        release("base 0.1.0", "app 1"),
    ]
)


def test_a_lock_survives_its_file():
    data = LOCK.to_json()
    assert Lock.from_json(data, "f") == LOCK
    assert Lock.from_json(data, "f").to_json() == data
    assert b'"version": "1.10.0-rc+5"' in data
    assert [each.name for each in LOCK.releases] == ["app", "base", "lib"]


def test_what_is_needed_comes_first():
    lock = lock_of(
        [release("a 1.0.0", "b", "c"), release("b 1.0.0", "c", "gone"), release("c 1.0.0")]
    )
    assert [each.name for each in lock.in_order()] == ["c", "b", "a"]
    assert [each.name for each in LOCK.in_order()] == ["base", "lib", "app"]
    long = lock_of(
        [*(release(f"p{n} 1.0.0", f"p{n + 1}") for n in range(3000)), release("p3000 1.0.0")]
    )
    assert long.in_order()[0].name == "p3000"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"format": 1', b'"format": 2', "expected format 1, found format 2"),
        (b"sha256:0", b"sha256:z", "expected sha256:... as digest of app"),
        (b"1.0.0", b"1.0", "at `$.packages[0].version`"),
        (b">=1.2,<2", b">>1", "at `$.packages[0].requires"),
        (b'"name": "base"', b'"name": "app"', "expected each package once"),
        (b"{", b"", "expected a lock of packages"),
        (b'"1.0.0"', b"1", "lock of packages"),
    ],
)
def test_a_damaged_lock_is_refused(old, new, message):
    with pytest.raises(LockError) as caught:
        Lock.from_json(LOCK.to_json().replace(old, new, 1), "trundle.lock")
    assert str(caught.value).startswith("trundle.lock: ")
    assert message in str(caught.value)
