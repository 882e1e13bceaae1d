#!/usr/bin/env bash
# A vulnerable version is withdrawn: what its publisher does, and what becomes of an installation.
#
# usage: scenario.sh REPOSITORY
#
# REPOSITORY is where the package acme/db is published, such as oci:registry//acme/db or 127.0.0.1:5000/acme/db; nothing
# may be published there yet. All else is made in the current folder: keys, db, policy.yaml and state.
set -euo pipefail

repository=${1:?expected the repository to publish to, such as oci:registry//acme/db}
export TRUNDLE_KEYS=keys TRUNDLE_STATE=state NO_COLOR=1

announce() { printf '\n# %s\n' "$@"; }

run() {
    printf '$ trundle %s\n' "$*"
    trundle "$@" 2>&1
}

# The package as its author has it: version, and what is new.
release() {
    mkdir -p db
    cat > db/app.yaml <<END
name: acme/db
version: $1
title: Database
changes: [$2]
END
    run publish db --to "$repository" --channel stable
}

# Minor versions wait for the windows that start as a cron expression says; patches do not wait.
window() {
    cat > policy.yaml <<END
upgrade:
  patch: immediate
  minor: window
  major: never
  windows:
    - {start: "$1", duration: PT4H, timezone: Europe/Berlin}
END
}

announce "The publisher makes keys, once, and releases two versions."
run keys init keys --no-passphrase
release 1.0.3 "First release"
release 1.1.2 "Faster queries"

announce "An installation follows the channel. Its window is three days from now, at two in the morning."
window "0 2 * * $((($(date +%u) + 3) % 7))"
run install "$repository" --root keys/root.json --policy policy.yaml

announce "A minor version comes out. Then 1.1.2 turns out to be vulnerable."
release 1.2.3 "New forms"
run unpublish 1.1.2 --from "$repository" --channel stable --reason CVE-2026-0001
release 1.1.3 "Logins need a password"
run channel show "$repository" --channel stable --root keys/root.json

announce "The installation takes the patch at once. The minor version has to wait."
run upgrade

announce "What will it do when the window opens?"
opening=$(trundle plan -o json | sed -n 's/.*"nextChange": "\(.*\)".*/\1/p')
run plan --at "$opening"

announce "Let it be open now, rather than wait for three days."
window "0 * * * *"
run policy set acme/db policy.yaml
run upgrade
run history
