# shellcheck shell=bash
# needs: common/system common/software
# Reads whether the repositories of this machine have a version of its containerd. Changes nothing: where the machine's own
# lists do not have it, they may be old, so apt fetches others into a folder in memory. Answers "offered", or
# "missing PACKAGE VERSION..." with what there is, or "unread WHY".
# Parameters: VERSION, PROXY (a list of NAME=value), SECONDS_TO_FETCH
set -euo pipefail
umask 077
export_proxy "${PROXY[@]}"
package=$(containerd_package)

# Lists the versions that lists of apt have, one a line: OPTION...
versions() { apt-cache "$@" madison "$package" 2>/dev/null | cut -d '|' -f 2 | tr -d ' ' | awk '!seen[$0]++' || true; }

# shellcheck disable=SC2016 # dpkg-query fills it in
installed=$(dpkg-query --show --showformat='${Version}' "$package" 2>/dev/null || true)
if [ "$installed" = "$VERSION" ] || grep -qxF -- "$VERSION" <<<"$(versions)"; then echo offered; exit 0; fi
folder=$(mktemp --directory /run/foresail-lists.XXXXXXXX)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
# hooks of a machine write its own files
cat >"$folder/apt.conf" <<CONFIGURATION
Dir::State::lists "$folder/lists/";
Dir::Cache "$folder/cache/";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::GzipIndexes "true";
Acquire::Languages "none";
Acquire::Retries "0";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
CONFIGURATION
status=0
timeout --kill-after=2 "$SECONDS_TO_FETCH" apt-get --config-file "$folder/apt.conf" --yes --quiet update >"$folder/output" 2>&1 || status=$?
found=$(versions --config-file "$folder/apt.conf")
# older versions of apt end with 0 when some of the lists are missing
problems=$(grep -E '^(E:|W: (Failed|Some index))' "$folder/output" || true)
problem=$(grep -m 1 Failed <<<"$problems" || head -n 1 <<<"$problems")
if grep -qxF -- "$VERSION" <<<"$found"; then
  echo offered
elif [ "$status" -ge 124 ]; then
  echo "unread its repositories did not answer within $SECONDS_TO_FETCH s"
elif [ "$status" != 0 ] || [ -n "$problem" ]; then
  echo "unread apt-get update: ${problem:-exit code $status}"
else
  echo "missing $package $(xargs <<<"$found")"
fi
