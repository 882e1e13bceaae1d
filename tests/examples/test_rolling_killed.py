"""docs/roll-a-package-forward.md while its commands are killed at each write: all versions show what they show without that."""

import pytest
from rolling_story import Story, has_kubectl

KILLED = 8
"""How many commands are killed."""


@pytest.mark.full
@pytest.mark.skipif(not has_kubectl(), reason="needs kubectl")
def test_kills_change_nothing_of_what_the_story_shows(tmp_path):
    calm, killed = Story(tmp_path / "calm"), Story(tmp_path / "killed", kills=True)
    wanted = calm.run()
    assert killed.run() == wanted
    assert killed.deaths > 4 * KILLED
    for story in (calm, killed):
        assert story.edits > len(wanted)
    assert {len(each or ()) for each in wanted[-1].seen.values()} == {2}
