-- Format 1 of the state of an installation
CREATE TABLE packages (
    name TEXT PRIMARY KEY,
    repository TEXT NOT NULL,
    channel TEXT NOT NULL,
    word TEXT NOT NULL,
    pinned TEXT,
    signed INTEGER NOT NULL CHECK (signed IN (0, 1)),
    policy TEXT,
    version TEXT,
    release TEXT NOT NULL,
    digest TEXT NOT NULL,
    since TEXT NOT NULL,
    manifest BLOB NOT NULL
) STRICT;
CREATE TABLE history (
    id INTEGER PRIMARY KEY,
    package TEXT NOT NULL,
    at TEXT NOT NULL,
    action TEXT NOT NULL,
    from_version TEXT,
    from_digest TEXT,
    to_version TEXT,
    to_digest TEXT,
    note TEXT NOT NULL
) STRICT;
CREATE INDEX history_of_package ON history (package, id);
CREATE TABLE holds (
    id INTEGER PRIMARY KEY,
    package TEXT NOT NULL REFERENCES packages (name) ON DELETE CASCADE,
    version TEXT,
    reason TEXT NOT NULL,
    at TEXT NOT NULL,
    until TEXT,
    by TEXT NOT NULL
) STRICT;
CREATE TABLE approvals (
    package TEXT NOT NULL REFERENCES packages (name) ON DELETE CASCADE,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    PRIMARY KEY (package, version)
) STRICT;
CREATE TABLE conditions (
    package TEXT NOT NULL REFERENCES packages (name) ON DELETE CASCADE,
    type TEXT NOT NULL,
    condition TEXT NOT NULL,
    PRIMARY KEY (package, type)
) STRICT;
-- What was seen outlives what is installed: whoever installs again must not be led back
CREATE TABLE known (
    package TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (package, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE channels (
    package TEXT NOT NULL,
    word TEXT NOT NULL,
    serial INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (package, word)
) STRICT, WITHOUT ROWID;
CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- Format 2
CREATE TABLE unpublished (
    package TEXT NOT NULL,
    version TEXT NOT NULL,
    word TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (package, version)
) STRICT, WITHOUT ROWID;
