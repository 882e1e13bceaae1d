"""Generated versions, close together so that they meet."""

from hypothesis import strategies as st

from trundle.version import SemVer

NUMBERS = st.integers(0, 3)
PRERELEASES = st.lists(
    st.sampled_from(["alpha", "beta", "rc", "0", "1", "2", "10", "a-b", "-"]), max_size=3
).map(tuple)
BUILDS = st.lists(st.sampled_from(["1", "01", "2", "10", "exp", "sha-5", "0"]), max_size=2).map(
    tuple
)
VERSIONS = st.builds(
    SemVer, NUMBERS, NUMBERS, NUMBERS, st.just(()) | PRERELEASES, st.just(()) | BUILDS
)
