"""A schema that is not valid itself: what is served says so, and nothing else breaks."""

from apis import CONFIG, SCHEMAS, Client, member
from projects import installer

from trundle.api import Api, served_kinds
from trundle.store import Store


def test_writes_say_where_the_schema_is_wrong(tmp_path):
    broken = {**SCHEMAS, "v1.yaml": SCHEMAS["v1.yaml"].replace('"^[a-z]+$"', '"(["')}
    with installer(tmp_path / "clubs") as install:
        made = install(broken, config=CONFIG)
        with Store(tmp_path / "store.db", made.scheme) as store:
            client = Client(Api(store, served_kinds([made.project], made.scheme), "0.0.0"))
            code, said = client.call("POST", client.at("v1"), member("ada", team="red"))
            assert (code, said["reason"]) == (500, "InternalError")
            assert (
                "the schema of v1 is not valid at Member.properties.team.pattern" in said["message"]
            )
            assert "correct it and generate the package anew" in said["message"]
            client.create("v2", "ada", group="red")
            assert client.get("v1", "ada")["team"] == "red"
