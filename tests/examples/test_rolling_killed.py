"""docs/roll-a-package-forward.md while its commands are killed: all versions show what they show without that."""

import pytest
from rolling_story import Story, has_kubectl

KILLS = 4
"""How often each command is killed."""


@pytest.mark.full
@pytest.mark.skipif(not has_kubectl(), reason="needs kubectl")
def test_kills_change_nothing_of_what_the_story_shows(tmp_path):
    calm, killed = Story(tmp_path / "calm"), Story(tmp_path / "killed", kills=KILLS)
    wanted = calm.run()
    assert killed.run() == wanted
    assert killed.deaths >= KILLS
    for story in (calm, killed):
        assert story.edits > len(wanted)
    assert {len(each or ()) for each in wanted[-1].seen.values()} == {2}
