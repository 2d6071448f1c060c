import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ShellMachine } from "./run-shell";

const MEMBERS = JSON.stringify({
  members: ["10.0.0.1", "10.0.0.11", "10.0.0.12", "[fd00::1]"].map((host) => ({
    name: host,
    clientURLs: [`https://${host}:2379`],
  })),
});

/** Lists the members of etcd. @returns the healthy URLs, and those that were asked */
function list(starting: readonly string[]) {
  const host = new ShellMachine();
  host.write("/run/members", MEMBERS);
  host.program(
    "curl",
    `for last; do :; done
case $last in
*/member/list) cat ${host.path("/run/members")} ;;
*) echo "$last" >>${host.path("/run/asked")}; [[ $last != *10.0.0.12* ]] && echo '{"health":"true"}' ;;
esac`,
  );
  const parameters = { ETCD_SILENT: 69, STARTING: starting };
  const { status, stdout, stderr } = host.step("membership/etcd-members", parameters, ["common/etcd"]);
  assert.equal(status, 0, stderr);
  const [members, ...healthy] = stdout.trim().split("\n");
  assert.equal(members, MEMBERS);
  return { healthy, asked: readFileSync(host.path("/run/asked"), "utf8").trim().split("\n") };
}

describe("the list of etcd's members", () => {
  it("tells which of them are healthy", () => {
    const { healthy, asked } = list([]);
    assert.deepEqual(
      healthy,
      ["10.0.0.1", "10.0.0.11", "[fd00::1]"].map((host) => `healthy https://${host}:2379`),
    );
    assert.equal(asked.length, 4);
  });

  it("does not ask members that are starting, and no other one with a similar address is left out", () => {
    const { asked } = list(["10.0.0.11", "fd00::1"]);
    assert.deepEqual(asked, ["https://10.0.0.1:2379/health", "https://10.0.0.12:2379/health"]);
  });
});
